import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  anOrderToChange,
  linesOf,
  locationOf,
  openChange,
  reviewed,
  stored,
  submitChange,
} from './changes.ts';
import { type Application, press, startOrdering, tickedIn } from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

describe('two launches that change one request', () => {
  it('merge the second change with the first, and ask the user to check and submit the result', async () => {
    const ordered = await anOrderToChange(application, ['HFBC', 'BUE', 'BCRP']);
    const [one, other] = [await openChange(application, ordered), await openChange(application, ordered)];
    await press(one, 'review', { at: one.at, tick: ['BLFT'], untick: ['BUE'] });
    await press(other, 'review', { at: other.at, tick: ['XCXR'], untick: ['BCRP'] });
    const fields = await reviewed(other);
    await submitChange(one, [['details', 'Tired']]);
    const refused = await other.post(`${other.at}review`, [
      ...fields,
      ['priority', 'urgent'],
      ['action', 'submit'],
    ]);
    expect(locationOf(refused)).toBe(`${other.home}${other.at}review?conflict`);
    expect((await stored(application, ordered.guid)).version).toBe(2);
    const html = await other.page(`${other.at}review?conflict`);
    expect(html).toMatch(
      /Someone else changed this request: Okonkwo, Adaeze \(Dr\) on 2 March 2026 at 09:30/,
    );
    expect(html).toMatch(/<textarea[^>]*>Tired<\/textarea>/);
    expect(tickedIn(await other.page(other.at))).toEqual(['HFBC', 'BLFT', 'XCXR']);
    expect(locationOf(await submitChange(other))).toContain('/orders/');
    const request = await stored(application, ordered.guid);
    expect(request).toMatchObject({ version: 3, clinicalDetails: 'Tired', priority: 'urgent' });
    expect(linesOf(request)).toEqual([['HFBC S2 R', 'BUE S1 D', 'BCRP S1 D', 'BLFT S1 R'], ['XCXR S3 R']]);
  });

  it('keep an answer that the first launch changed and the second launch left unchanged', async () => {
    const ordered = await anOrderToChange(application, ['HIRON']);
    const fasting = (answer: string): [string, string][] => [['answer:fasting', answer]];
    await submitChange(await openChange(application, ordered), fasting('Not known'));
    const [one, other] = [await openChange(application, ordered), await openChange(application, ordered)];
    await press(other, 'review', { at: other.at, tick: ['BUE'] });
    const fields = await reviewed(other);
    await submitChange(one, fasting('Fasting'));
    const refused = await other.post(`${other.at}review`, [
      ...fields,
      ...fasting('Not known'),
      ['action', 'submit'],
    ]);
    expect(locationOf(refused)).toBe(`${other.home}${other.at}review?conflict`);
    expect(locationOf(await submitChange(other))).toContain('/orders/');
    const { version, answers } = await stored(application, ordered.guid);
    expect([version, answers.map(({ answer }) => answer)]).toEqual([4, ['Fasting']]);
  });

  it('store one of two simultaneous changes, and redirect the other launch to a conflict page', async () => {
    const ordered = await anOrderToChange(application, ['HFBC']);
    const launches = [await openChange(application, ordered), await openChange(application, ordered)];
    for (const launch of launches) await press(launch, 'review', { at: launch.at, tick: ['BUE'] });
    const forms = await Promise.all(launches.map(reviewed));
    const answers = await Promise.all(
      launches.map((launch, index) =>
        launch.post(`${launch.at}review`, [...(forms[index] ?? []), ['action', 'submit']]),
      ),
    );
    const kinds = answers.map((answer) => locationOf(answer)?.replace(/^.*(orders|\?conflict).*$/, '$1'));
    expect(new Set(kinds)).toEqual(new Set(['?conflict', 'orders']));
    expect(linesOf(await stored(application, ordered.guid))).toEqual([['HFBC S1 R', 'BUE S2 R']]);
  });
});

describe('a submitted review form that is sent again from the browser’s history', () => {
  const submittedOnce = async () => {
    const ordered = await anOrderToChange(application, ['HFBC', 'BUE']);
    const launch = await openChange(application, ordered);
    await press(launch, 'review', { at: launch.at, tick: ['BLFT'] });
    const fields = await reviewed(launch);
    const send = (details: string) =>
      launch.post(`${launch.at}review`, [...fields, ['details', details], ['action', 'submit']]);
    const result = locationOf(await send('Tired'));
    expect(result).toContain('/orders/');
    return { launch, send, result, guid: ordered.guid };
  };

  it('is not stored again if its fields are unchanged', async () => {
    const { send, result, guid } = await submittedOnce();
    expect(locationOf(await send('Tired'))).toBe(result);
    expect((await stored(application, guid)).version).toBe(2);
  });

  it('is not stored if a field was changed, but shows the new text for another submission', async () => {
    const { launch, send, guid } = await submittedOnce();
    expect(locationOf(await send('Tired, and diabetic'))).toBe(`${launch.home}${launch.at}review?changed`);
    expect(await launch.page(`${launch.at}review?changed`)).toContain('>Tired, and diabetic</textarea>');
    expect((await stored(application, guid)).clinicalDetails).toBe('Tired');
    expect(locationOf(await submitChange(launch))).toContain('/orders/');
    expect(await stored(application, guid)).toMatchObject({
      version: 3,
      clinicalDetails: 'Tired, and diabetic',
    });
  });
});

describe('a Complete request', () => {
  it('cannot be changed: every page and form for changing it answers 409', async () => {
    const ordered = await anOrderToChange(application, ['XCXR']);
    expect((await stored(application, ordered.guid)).status).toBe('Complete');
    const launch = await openChange(application, ordered);
    for (const path of [launch.at, `${launch.at}review`]) expect((await launch.send(path)).status).toBe(409);
    for (const path of ['', 'chosen', 'review']) {
      const refused = await launch.post(`${launch.at}${path}`, [
        ['test', 'HFBC'],
        ['version', '1'],
        ['action', path === 'review' ? 'submit' : 'update'],
      ]);
      expect([path, refused.status]).toEqual([path, 409]);
    }
    expect((await stored(application, ordered.guid)).version).toBe(1);
  });

  it('is shown to UpdateTest without a link to change it', async () => {
    const ordered = await anOrderToChange(application, ['XCXR']);
    const launch = await openChange(application, ordered);
    const opened = await launch.send('');
    expect([opened.status, locationOf(opened)]).toEqual([303, `${launch.home}requests/${ordered.guid}`]);
    const html = await launch.page(`requests/${ordered.guid}`);
    expect(html).toContain('Chest X-ray');
    expect(html).not.toContain(launch.at);
  });

  it('refuses a change that a launch started before the request was completed', async () => {
    const ordered = await anOrderToChange(application, ['HFBC', 'BUE']);
    const [one, other] = [await openChange(application, ordered), await openChange(application, ordered)];
    await press(other, 'review', { at: other.at, tick: ['BLFT'] });
    const fields = await reviewed(other);
    await press(one, 'review', { at: one.at, untick: ['HFBC', 'BUE'], tick: ['XCXR'] });
    const result = locationOf(await submitChange(one));
    expect((await stored(application, ordered.guid)).status).toBe('Complete');
    expect((await other.post(`${other.at}review`, [...fields, ['action', 'submit']])).status).toBe(409);
    expect((await stored(application, ordered.guid)).version).toBe(2);
    // If the form that completed the request is sent again, the service redirects to the result page of the
    // launch.
    expect(locationOf(await one.post(`${one.at}review`, [['action', 'submit']]))).toBe(result);
  });
});
