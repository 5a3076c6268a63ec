import { describe, expect, it } from '@jest/globals';
import { editAt, pathsOf, replaceAt } from '../src/json-edit.ts';
import { aServiceRequest, containedAt } from '../src/service-request.ts';

describe('aServiceRequest', () => {
  it('has a new originating id each time', () => {
    expect(aServiceRequest()['identifier']).not.toEqual(aServiceRequest()['identifier']);
    expect(aServiceRequest({ originatingId: 'HS-1' })['identifier']).toMatchObject([{ value: 'HS-1' }]);
  });

  it('has its resources at the paths in `containedAt`', () => {
    const payload = aServiceRequest();
    for (const [id, path] of Object.entries(containedAt)) {
      expect(replaceAt(payload, `${path}.id`, 'other')).not.toEqual(payload);
      expect(replaceAt(payload, `${path}.id`, id)).toEqual(payload);
    }
  });

  it('omits elements set to undefined', () => {
    const contained = aServiceRequest({ patient: { telecom: undefined } })['contained'];
    expect(contained).toContainEqual(expect.objectContaining({ id: 'patient', gender: 'female' }));
    expect(contained).not.toContainEqual(expect.objectContaining({ telecom: expect.anything() }));
  });
});

describe('an edit of JSON', () => {
  const value = { list: [{ name: 'one' }, { name: 'two' }] };

  it('replaces, adds and removes values without changing the original', () => {
    expect(replaceAt(value, 'list[1].name', 'x')).toEqual({ list: [{ name: 'one' }, { name: 'x' }] });
    expect(replaceAt(value, 'list[0].more', [1])).toEqual({
      list: [{ name: 'one', more: [1] }, { name: 'two' }],
    });
    expect(replaceAt(value, 'list[2]', null)).toEqual({ list: [{ name: 'one' }, { name: 'two' }, null] });
    expect(replaceAt(value, 'list[0]', undefined)).toEqual({ list: [{ name: 'two' }] });
    expect(replaceAt(value, 'list', undefined)).toEqual({});
    expect(value).toEqual({ list: [{ name: 'one' }, { name: 'two' }] });
  });

  it('changes nothing if the path does not exist', () => {
    expect(replaceAt(value, 'other.name', 'x')).toEqual(value);
    expect(replaceAt(value, 'list[7].name', 'x')).toEqual(value);
  });

  it('sets __proto__ as an own member, as JSON.parse does', () => {
    const edited = editAt({}, ['__proto__'], () => 1);
    expect(JSON.stringify(edited)).toBe('{"__proto__":1}');
  });

  it('can address every value, because `pathsOf` returns the path of each value', () => {
    expect(pathsOf(value)).toEqual([
      [],
      ['list'],
      ['list', 0],
      ['list', 0, 'name'],
      ['list', 1],
      ['list', 1, 'name'],
    ]);
  });
});
