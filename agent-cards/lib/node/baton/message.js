// The content of a message: text, data and files.
'use strict';

const { Reject } = require('./ends.js');

// A file of a message. Its methods throw Reject, with a reason for the caller, if they cannot read the file.
class File {
  constructor(part) {
    this.name = part.filename ?? '';
    this.mediaType = part.mediaType ?? '';
    this.url = part.url;
    this._raw = part.raw;
  }

  bytes() {
    if (this._raw === undefined) throw new Reject(`${this._shown} came as a URL. Send the file itself.`);
    return Buffer.from(this._raw, 'base64');
  }

  text() {
    const bytes = this.bytes();
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw new Reject(`${this._shown} is not text in UTF-8.`);
    }
  }

  json() {
    const text = this.text();
    try {
      return JSON.parse(text);
    } catch {
      throw new Reject(`${this._shown} is not JSON.`);
    }
  }

  get _shown() {
    return this.name || 'The file';
  }
}

function textOf(message) {
  const texts = (message?.parts ?? []).filter((part) => typeof part.text === 'string');
  return texts.map((part) => part.text).join('\n');
}

// Returns the first data, or undefined.
function dataOf(parts) {
  return parts.find((part) => part.data !== undefined)?.data;
}

function filesOf(parts) {
  return parts.filter((part) => part.raw !== undefined || part.url !== undefined).map((part) => new File(part));
}

// A message and its content. `turn.request` is the message that began the task.
class Request {
  constructor(message) {
    this.message = message;
  }

  get text() {
    return textOf(this.message);
  }

  get data() {
    return dataOf(this.message.parts);
  }

  get files() {
    return filesOf(this.message.parts);
  }
}

module.exports = { dataOf, File, filesOf, Request, textOf };
