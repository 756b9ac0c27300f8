// Standard output as Baton reads it: one JSON object a line.
'use strict';

class LineTooLong extends Error {
  name = 'LineTooLong';
}

// Rejects NaN and Infinity, which JSON does not have: JSON.stringify would silently write null.
function finite(key, value) {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${key} is ${value}, which JSON does not have`);
  return value;
}

// Half a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD. JSON.stringify writes it as an escape. The pattern
// matches every escape, so that an escaped backslash is not mistaken for the beginning of another one.
function encoded(line) {
  const json = JSON.stringify(line, finite);
  if (!json.includes('\\ud')) return json;
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (escape) => (escape.startsWith('\\ud') ? '\ufffd' : escape));
}

class Output {
  constructor(write, lineMaxBytes) {
    this._write = write;
    this._lineMaxBytes = lineMaxBytes;
  }

  // Writes one line. Throws, and writes nothing, if it is not JSON or is too long.
  write(line) {
    const data = Buffer.from(`${encoded(line)}\n`);
    if (data.length - 1 > this._lineMaxBytes) {
      throw new LineTooLong(`a line of ${data.length - 1} bytes (${line.type}) is longer than the limit of ${this._lineMaxBytes}`);
    }
    this._write(data);
  }
}

module.exports = { encoded, LineTooLong, Output };
