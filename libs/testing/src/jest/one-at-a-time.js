import TestRunner from 'jest-runner';
import { keepServersFor } from './setup.ts';

/**
 * Jest's own runner, that runs its tests one after the other, and with none of another runner's beside them.
 * They need much memory: servers of the run that they do not use end before.
 */
export default class OneAtATime extends TestRunner {
  isSerial = true;

  async runTests(tests, ...others) {
    await keepServersFor(tests.map(({ path }) => path));
    return super.runTests(tests, ...others);
  }
}
