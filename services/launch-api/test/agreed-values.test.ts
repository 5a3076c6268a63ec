import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import {
  aServiceRequest,
  containedAt,
  type ServiceRequestParts,
} from '@clinical-launch/testing/service-request';
import { openDirectories, readDirectories } from '@clinical-launch/trust/directory-file';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { codeChallenge, faultsOf, startLaunchApi, wholeFaultsOf } from './launch-api.ts';

const { fhir, nhs, hl7uk } = defaultNamespaces;
const systems = {
  ods: `${nhs}/Id/ods-organization-code`,
  local: `${fhir}/Id/local-org-code`,
  performing: `${fhir}/Id/performing-org`,
  professional: `${hl7uk}/Id/professional-code`,
  staff: `${fhir}/Id/local-staff-code`,
  username: `${fhir}/Id/username`,
};

/** The same directory in its two formats, with the values of `aServiceRequest` and a few more. */
const forms = {
  'directory.json': JSON.stringify({
    practices: [
      {
        system: 'ods-organization-code',
        code: 'b82017',
        users: ['a.okonkwo ', 'hill, ada "the nurse"'],
        editors: ['a.okonkwo'],
      },
      { system: 'local-org-code', code: 'Oak42' },
    ],
    performers: [
      // An exported column of fixed length has blanks at its end.
      { system: 'performing-org', code: 'RCB00  ' },
      { system: 'ods-organization-code', code: 'RCB' },
    ],
    clinicians: [
      { system: 'professional-code', code: 'g8134567' },
      { system: 'local-staff-code', code: 'Staff 1' },
    ],
  }),
  'directory.csv': [
    '\uFEFFkind,system,value,practice',
    'practice,ods-organization-code,b82017,',
    'user,,a.okonkwo,b82017',
    'user,ods-organization-code,"hill, ada ""the nurse""",b82017',
    'editor,,a.okonkwo,b82017',
    '',
    'practice,local-org-code,Oak42,',
    'performer,performing-org,RCB00,',
    'performer,ods-organization-code,RCB,',
    'clinician,professional-code,g8134567,',
    'clinician,local-staff-code,"Staff 1",\r\n',
  ].join('\r\n'),
};

const identified = (system: string, value: string) => ({ identifier: [{ system, value }] });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'directory-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Writes a file to the registry's folder. */
async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

type Started = Awaited<ReturnType<typeof startLaunchApi>>;

async function faultsIn(api: Started, parts: ServiceRequestParts, to?: 'Validate') {
  const response = await api.post({ payload: aServiceRequest(parts), ...(to && { to }) });
  if (response.status === 200) return [];
  expect(response.status).toBe(400);
  return faultsOf(response);
}

describe.each(Object.entries(forms))('a launch that is checked against %s', (name, text) => {
  let api: Started;
  let directories: ReturnType<typeof openDirectories>;
  beforeAll(async () => {
    directories = openDirectories({
      sharedFile: await file(name, text),
      registryFile: join(folder, 'registry.json'),
      publicUrl: 'https://launch.example.org',
      logger: pino({ enabled: false }),
    });
    api = await startLaunchApi({
      directories,
      policies: { pms: { practices: [{ system: 'ods-organization-code', code: 'B82017' }] } },
    });
  });
  afterAll(async () => {
    directories.stop();
    await api.stop();
  });

  it.each<[string, ServiceRequestParts]>([
    ['with listed values', {}],
    ['with an ODS code in another case', { practice: identified(systems.ods, 'B82017') }],
    ['with a username that has a blank at its end', { author: identified(systems.username, 'a.okonkwo ') }],
    [
      'with a username that contains commas and quotation marks',
      { author: identified(systems.username, 'hill, ada "the nurse"') },
    ],
    ['with the local code of a clinician', { clinician: identified(systems.staff, 'Staff 1') }],
    ['with the ODS code of a performer', { laboratory: identified(systems.ods, 'rcb') }],
  ])('%s is accepted', async (_what, parts) => {
    expect(await faultsIn(api, parts)).toEqual([]);
  });

  it.each<[string, keyof typeof containedAt, { system: string; value: string }]>([
    ['practice', 'practice', { system: systems.ods, value: 'B82018' }],
    ['practice code in another code set', 'practice', { system: systems.local, value: 'B82017' }],
    ['user', 'author', { system: systems.username, value: 'b.nobody' }],
    ['user in another case', 'author', { system: systems.username, value: 'A.Okonkwo' }],
    ['clinician', 'clinician', { system: systems.professional, value: 'G9999999' }],
    ['clinician by a local code in another case', 'clinician', { system: systems.staff, value: 'staff 1' }],
    ['performer', 'laboratory', { system: systems.performing, value: 'RCB01' }],
    [
      'performer with the name of an inherited property',
      'laboratory',
      { system: systems.performing, value: 'constructor' },
    ],
  ])(
    'with an unlisted %s is refused with 400 and the path of the unlisted value',
    async (_what, where, identifier) => {
      const parts = { [where]: { identifier: [identifier] } };
      const expected = [
        {
          path: `${containedAt[where]}.identifier[0].value`,
          message: expect.stringMatching(/agreed.*Send an agreed value/),
        },
      ];
      expect(await faultsIn(api, parts)).toEqual(expected);
      expect(await faultsIn(api, parts, 'Validate')).toEqual(expected);
      const response = await api.post({ payload: aServiceRequest(parts) });
      expect(await response.clone().text()).not.toContain(identifier.value);
      expect((await wholeFaultsOf(response)).map(({ code }) => code)).toEqual(['business-rule']);
    },
  );

  it('is refused with the paths of all unlisted values and of all other errors', async () => {
    const faults = await faultsIn(api, {
      author: identified(systems.username, 'b.nobody'),
      clinician: { ...identified(systems.staff, '9'), name: undefined },
      laboratory: {
        identifier: [
          { system: 'urn:other', value: 'x' },
          { system: systems.local, value: '9' },
        ],
      },
      authoredOn: 'yesterday',
    });
    expect(faults.map(({ path }) => path).toSorted()).toEqual([
      'authoredOn',
      `${containedAt.author}.identifier[0].value`,
      `${containedAt.clinician}.identifier[0].value`,
      `${containedAt.clinician}.name`,
      `${containedAt.laboratory}.identifier[1].value`,
    ]);
  });

  it.each([
    ['an editor', 'a.okonkwo', systems.ods, 'B82017', true],
    ['another user', 'hill, ada "the nurse"', systems.ods, 'B82017', false],
    ['a user of a practice without a list of editors', 'b.nobody', systems.local, 'Oak42', undefined],
  ])(
    'by %s records whether this user may edit favourites and order sets',
    async (_who, user, system, code, may) => {
      const token = await api.issuer.sign({ claims: { client_id: 'other', azp: 'other' } });
      const payload = aServiceRequest({
        practice: identified(system, code),
        author: identified(systems.username, user),
      });
      const { url } = (await (await api.post({ payload, token })).json()) as { url: string };
      const launchToken = new URL(url).searchParams.get('launchToken') ?? '';
      const redeemed = await api.tickets.redeem('launch-token', launchToken, {
        proofs: [codeChallenge],
        events: [],
      });
      if (redeemed.outcome !== 'redeemed') throw new Error(redeemed.outcome);
      expect((redeemed.context as LaunchContext).isPracticeEditor).toBe(may);
    },
  );

  it('for a practice that is neither agreed for the client nor in the directory has only one error', async () => {
    const faults = await faultsIn(api, { practice: identified(systems.ods, 'X99999') });
    expect(faults).toHaveLength(1);
  });

  it('by any user is accepted for a practice that lists no users', async () => {
    const token = await api.issuer.sign({ claims: { client_id: 'other', azp: 'other' } });
    const payload = aServiceRequest({
      practice: identified(systems.local, 'Oak42'),
      author: identified(systems.username, 'b.nobody'),
    });
    expect((await api.post({ payload, token })).status).toBe(200);
  });
});

describe('values of a kind that the directory does not list', () => {
  it.each([
    ['only.csv', 'kind,system,value,practice\nperformer,performing-org,RCB00,'],
    ['only.json', '{"performers":[{"system":"performing-org","code":"RCB00"}]}'],
  ])('are accepted: %s', async (name, text) => {
    const directories = openDirectories({
      sharedFile: await file(name, text),
      registryFile: join(folder, 'registry.json'),
      publicUrl: 'https://launch.example.org',
      logger: pino({ enabled: false }),
    });
    const api = await startLaunchApi({ directories });
    try {
      const others = {
        practice: identified(systems.local, 'any'),
        author: identified(systems.username, 'anybody'),
        clinician: identified(systems.staff, 'any'),
      };
      expect(await faultsIn(api, others)).toEqual([]);
      expect(await faultsIn(api, { laboratory: identified(systems.performing, 'other') })).toHaveLength(1);
    } finally {
      directories.stop();
      await api.stop();
    }
  });

  it('are accepted if there is no directory', async () => {
    const api = await startLaunchApi();
    const parts = { author: identified(systems.username, 'b'), laboratory: identified(systems.local, '9') };
    expect(await faultsIn(api, parts)).toEqual([]);
    await api.stop();
  });
});

describe('the directory of one client', () => {
  it('replaces the shared directory for that client, and is reloaded when its file changes', async () => {
    const own = (code: string) => JSON.stringify({ performers: [{ system: 'performing-org', code }] });
    const path = await file('own.json', own('OWN01'));
    const reported: string[] = [];
    let wake = () => {};
    const logger = pino(
      {},
      {
        write(line: string) {
          reported.push(line);
          wake();
        },
      },
    );
    const directories = openDirectories({
      sharedFile: await file('shared.json', forms['directory.json']),
      registryFile: join(folder, 'registry.json'),
      publicUrl: 'https://launch.example.org',
      logger,
      everyMs: 5,
    });
    const clients = [{ clientId: 'other', directory: 'own.json' }];
    directories.follow({ realms: [], trustedIssuers: [{ issuer: 'https://issuer.example', clients }] });
    const api = await startLaunchApi({ directories, policies: { other: { directory: 'own.json' } } });
    const token = await api.issuer.sign({ claims: { client_id: 'other', azp: 'other' } });
    const statusOf = async (code: string, of?: string) => {
      const payload = aServiceRequest({ laboratory: identified(systems.performing, code) });
      return (await api.post({ payload, ...(of && { token: of }) })).status;
    };
    const change = async (text: string) => {
      const heard = new Promise<void>((resolve) => (wake = resolve));
      // Replaces the file in one step, because a half-written file could be read.
      await writeFile(`${path}.new`, text);
      await rename(`${path}.new`, path);
      await heard;
    };
    try {
      expect([await statusOf('OWN01', token), await statusOf('RCB00', token)]).toEqual([200, 400]);
      expect([await statusOf('OWN01'), await statusOf('RCB00')]).toEqual([400, 200]);
      await change(own('OWN02'));
      expect([await statusOf('OWN02', token), await statusOf('OWN01', token)]).toEqual([200, 400]);
      expect(reported.pop()).toContain('the changed directory is in use');

      await change('{"performers":[{"system":"performing-org","code":"secret-code"},{}], "practices":');
      expect(reported[0]).toContain('the changed directory is invalid');
      expect(reported[0]).toContain('at line 1, column');
      expect(reported[0]).not.toContain('secret-code');
      expect([await statusOf('OWN02', token), await statusOf('OWN01', token)]).toEqual([200, 400]);
      await change(own('OWN03'));
      expect(await statusOf('OWN03', token)).toBe(200);
    } finally {
      directories.stop();
      await api.stop();
    }
  });

  it('causes the registry to be rejected if the directory is missing or invalid', async () => {
    const registryFile = join(folder, 'registry.json');
    const directories = openDirectories({
      sharedFile: undefined,
      registryFile,
      publicUrl: 'https://launch.example.org',
      logger: pino({ enabled: false }),
    });
    await file('empty.json', '{}');
    const registryNaming = (directory: string) => ({
      realms: [
        { realm: 'demo', clients: [{ clientId: 'pms', name: 'PMS', secrets: [], scopes: [], directory }] },
      ],
    });
    const at = 'realms[0].clients[0].directory';
    expect(() => directories.follow(registryNaming('gone.json'))).toThrow(`${at} cannot be read (ENOENT)`);
    expect(() => directories.follow(registryNaming('empty.json'))).toThrow(`${at} The directory is invalid`);
    expect(() => directories.of({ directory: 'gone.json' })).toThrow('not followed');
    directories.stop();
  });
});

describe('a directory that contains an earlier code of a practice', () => {
  it('causes the registry to be rejected, unless the code is the local code of another client', async () => {
    await file('ods.csv', 'kind,system,value,practice\npractice,ods-organization-code,b1,');
    await file('local.csv', 'kind,system,value,practice\npractice,local-org-code,0042,');
    const directories = openDirectories({
      sharedFile: undefined,
      registryFile: join(folder, 'registry.json'),
      publicUrl: 'https://launch.example.org',
      logger: pino({ enabled: false }),
    });
    const [issuer, clientId] = ['https://issuer.example', 'other'];
    const practice = (system: 'ods-organization-code' | 'local-org-code', code: string) => ({ system, code });
    const formerly = [practice('ods-organization-code', 'B1'), practice('local-org-code', '0042')];
    const follow = (directory: string) => () => {
      const clients = [{ clientId: 'pms', directory }, { clientId }];
      const successor = { ...practice('ods-organization-code', 'B2'), issuer, clientId, formerly };
      directories.follow({ realms: [], trustedIssuers: [{ issuer, clients }], practices: [successor] });
    };
    const place = 'the directory of trustedIssuers[0].clients[0]';
    expect(follow('ods.csv')).toThrow(`practices[0].formerly[0] must not be in use, but is in ${place}`);
    expect(follow('local.csv')).not.toThrow();
    directories.stop();
  });
});

describe('a directory that is read at the start', () => {
  const environment = (DIRECTORY_FILE: string) => ({ DIRECTORY_FILE, PUBLIC_URL: 'https://launch.example' });

  it.each([
    ['a missing file', undefined, ['DIRECTORY_FILE cannot be read (ENOENT)']],
    ['text that is not JSON', '{"practices": [', ['is not JSON', 'at line 1, column 16']],
    [
      'invalid entries',
      '{"practices":[{"system":"performing-org","code":""}],"clinicians":[],"staff":[]}',
      [
        'practices[0].system must be one of',
        'practices[0].code must',
        'clinicians must have at least 1 entry',
      ],
    ],
    [
      'a repeated entry',
      JSON.stringify({
        practices: ['B82017', 'b82017'].map((code) => ({
          system: 'ods-organization-code',
          code,
          users: ['u', 'u'],
        })),
      }),
      ['practices[1] is listed twice', 'practices[0].users[1] is listed twice'],
    ],
    ['no list', '{}', ['must list practices, performers or clinicians']],
  ])('is refused with a list of all errors because of %s (JSON)', async (_what, text, said) => {
    const path = text === undefined ? join(folder, 'gone.json') : await file('faulty.json', text);
    for (const each of said) expect(() => readDirectories(environment(path))).toThrow(each);
    expect(() => readDirectories(environment(path))).toThrow(
      expect.objectContaining({ name: 'ConfigurationError' }),
    );
  });

  it.each([
    ['a missing header', ['practice,local-org-code,1,'], ['line 1 must be kind,system,value,practice']],
    ['no rows', [], ['line 1 must list practices']],
    [
      'a malformed line',
      [
        'practice,local-org-code,1',
        'nurse,,x,',
        'practice,performing-org,1,',
        'clinician,local-staff-code,,',
        'performer,performing-org,1,Oak42',
        'practice,local-org-code,"a"b,',
      ],
      ['line 7 contains a quotation mark that is not allowed there'],
    ],
    [
      'invalid entries',
      [
        'practice,local-org-code,1',
        'nurse,,x,',
        'practice,performing-org,"1\n2",',
        'clinician,local-staff-code,,',
        'performer,performing-org,1,Oak42',
        'user,,u,nowhere',
        'practice,local-org-code,1,',
        'practice,ods-organization-code,1,',
        'practice,local-org-code,1,',
        'user,,u,1',
        'user,ods-organization-code,u,1',
        'user,ods-organization-code,u,1',
        'user,ods-organization-code,,1',
      ],
      [
        'line 2 must have 4 fields',
        'line 3 kind must be one of',
        'line 4 system must be one of',
        'line 6 value must',
        'line 7 practice must be empty',
        'line 8 practice must be the code of a practice in this file',
        'line 11 is listed twice',
        'line 12 system must be that of the practice',
        'line 14 value is listed twice',
        'line 15 value must not be empty',
      ],
    ],
    [
      'a repeated user',
      ['practice,local-org-code,1,', 'user,,u,1', 'user,,secret-name,1', 'user,,secret-name,1', 'user,,,1'],
      ['line 6 value'],
    ],
  ])('is refused with a list of all errors because of %s (CSV)', async (_what, rows, said) => {
    const header = rows.length === 1 ? [] : ['kind,system,value,practice'];
    const path = await file('faulty.csv', [...header, ...rows].join('\n'));
    for (const each of said) expect(() => readDirectories(environment(path))).toThrow(each);
    expect(() => readDirectories(environment(path))).not.toThrow('secret-name');
  });

  it('is reported with its path in the registry if it belongs to a client and is invalid', async () => {
    await file('own.csv', 'kind,system,value,practice\nnurse,,x,');
    const clients = [{ clientId: 'pms', directory: 'own.csv' }];
    const registry = { realms: [], trustedIssuers: [{ issuer: 'https://issuer.example', clients }] };
    const REGISTRY_FILE = await file('registry.json', JSON.stringify(registry));
    expect(() => readDirectories({ REGISTRY_FILE, PUBLIC_URL: 'https://launch.example' })).toThrow(
      /REGISTRY_FILE: trustedIssuers\[0\]\.clients\[0\]\.directory: The directory is invalid:\s+line 1 must list[^]*line 2 kind must be/,
    );
  });

  it('is optional', () => {
    expect(readDirectories({ PUBLIC_URL: 'https://launch.example' })).toBeUndefined();
  });
});
