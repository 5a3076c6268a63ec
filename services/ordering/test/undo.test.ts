import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  aPatient,
  chipsIn,
  type OpenLaunch,
  press,
  startOrdering,
  tickedIn,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

/** A practice that only the current test uses. */
let practice: ReturnType<typeof aLaunchContext>['request']['practice'];
beforeEach(() => {
  practice = { identifier: { system: 'ods-organization-code', value: randomUUID() }, name: 'Some Surgery' };
});

const open = () => application.openLaunch(aLaunchContext({ request: { practice, patient: aPatient() } }));

/** Returns the value of the button that undoes the last step. */
const undoIn = (html: string) => /value="(undo:[^"]*)"/.exec(html)?.[1] ?? 'undo:none';
const undo = async (launch: OpenLaunch) => press(launch, undoIn(await launch.page()));
const setIn = (html: string) => /value="delete-set:([^"]*)"/.exec(html)?.[1];
const saveSet = (launch: OpenLaunch) =>
  launch.post('', [
    ['set-name', 'Ours'],
    ['action', 'save-set'],
  ]);

describe('the Undo button', () => {
  it.each([
    ['remove:HFBC', 'Removed Full blood count.'],
    ['clear', 'Removed Full blood count and Urea and electrolytes.'],
  ])('restores the tests that the button "%s" removed', async (action, said) => {
    const launch = await open();
    await press(launch, 'update', { tick: ['HFBC', 'BUE'] });
    await press(launch, action);
    const html = await launch.page();
    expect(html).toContain(said);
    expect(tickedIn(html)).not.toContain('HFBC');
    expect((await undo(launch)).status).toBe(303);
    expect(tickedIn(await launch.page())).toEqual(['HFBC', 'BUE']);
    expect(await launch.page()).toContain('Your last removal has been undone.');
  });

  it('restores a removed favourite of the user, and of the practice', async () => {
    const launch = await open();
    await press(launch, 'favourite:HFBC');
    await press(launch, 'add-practice-favourites', { tick: ['BUE'] });
    await press(launch, 'unfavourite:HFBC');
    expect(await launch.page()).toContain('Removed Full blood count from your favourites.');
    await undo(launch);
    await press(launch, 'remove-practice-favourite:BUE');
    await undo(launch);
    const html = await launch.page();
    expect([chipsIn(html, 'yours'), chipsIn(html, 'practice')]).toEqual([['HFBC'], ['BUE']]);
  });

  it('restores a deleted order set, unless a new order set has the same name', async () => {
    const launch = await open();
    await press(launch, 'update', { tick: ['HFBC'] });
    await saveSet(launch);
    const id = setIn(await launch.page());
    await press(launch, `delete-set:${id}`);
    expect(setIn(await launch.page())).toBeUndefined();
    await undo(launch);
    expect(setIn(await launch.page())).toBe(id);

    await press(launch, `delete-set:${id}`);
    const colleague = await open();
    await press(colleague, 'update', { tick: ['BUE'] });
    await saveSet(colleague);
    await undo(launch);
    const html = await launch.page();
    expect(html).toContain('This practice already has an order set with this name');
    expect(setIn(html)).toBe(setIn(await colleague.page()));
  });

  it('undoes only the last step of its own launch', async () => {
    const launch = await open();
    await press(launch, 'update', { tick: ['HFBC', 'BUE'] });
    await press(launch, 'remove:HFBC');
    const first = undoIn(await launch.page());
    const other = await open();
    await press(other, first);
    expect(tickedIn(await other.page())).toEqual([]);
    await press(launch, 'remove:BUE');
    await press(launch, first);
    expect(tickedIn(await launch.page())).toEqual([]);
    expect(await launch.page()).toContain('This can no longer be undone. Nothing has been changed.');
  });
});
