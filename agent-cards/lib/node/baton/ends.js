// Errors that end a turn early.
'use strict';

class Ended extends Error {
  name = 'Ended';
}

class Canceled extends Error {
  name = 'Canceled';
}

class Fail extends Error {
  name = 'Fail';
}

class Reject extends Error {
  name = 'Reject';
}

module.exports = { Canceled, Ended, Fail, Reject };
