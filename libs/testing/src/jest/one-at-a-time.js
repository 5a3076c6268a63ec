import TestRunner from 'jest-runner';

/**
 * Jest's own runner, that runs its tests one after the other, and with none of another runner's beside them.
 */
export default class OneAtATime extends TestRunner {
  isSerial = true;
}
