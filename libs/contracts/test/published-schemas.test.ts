import {
  mutatedServiceRequest,
  validServiceRequest,
} from '@clinical-launch/testing/arbitrary-service-request';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { desktopLaunchSchema, readDesktopLaunch } from '../src/desktop-context.ts';
import { defaultNamespaces } from '../src/namespaces.ts';
import { exampleLaunch, exampleServiceRequest } from '../src/published/example-service-request.ts';
import { publishedSchema } from '../src/published/schema.ts';
import { serviceRequestDocument } from '../src/published/service-request.ts';
import { faultsOf } from './fhir-reading.ts';

/**
 * Accepts any text, because `format` is only an annotation in JSON Schema 2020-12. The third-party validator
 * below supports only the standard features of JSON Schema.
 */
const anyDay = () => true;
const ajv = new Ajv2020({
  strict: true,

  formats: { date: anyDay, 'date-time': anyDay },
});
const id = 'https://oltr.example/AccessApi/schemas/service-request.json';
const accepts = ajv.compile(serviceRequestDocument(defaultNamespaces, id));

/** Matches the reader's messages for the rules that the schema states only in its description texts. */
const rulesInWords = [
  /^must refer to (a resource|one resource|exactly one resource) /,
  /^must not be the id of another contained resource$/,
  /^must have at most 35 characters in total$/,
  /^must have at most (35|70) characters$/,
  /^must have (exactly one|an) entry whose use is usual$/,
  /^must be a national identifier, a hospital number, or one of each$/,
  /^must have an entry whose system is one of /,
  /^must not be in the future$/,
  /^must not be more than 140 years ago$/,
  /^must be a date (and time )?that exists/,
  /, and whose use is not old$/,
  /^must be of type string, or null beside an entry of _/,
];

const notXml = /^must contain only characters that are allowed in XML 1.0$/;

describe('the JSON Schema of the payload', () => {
  it('has only patterns that mean the same without the flag u of JavaScript, as in other languages', () => {
    const schemas = [serviceRequestDocument(defaultNamespaces, id), publishedSchema(desktopLaunchSchema)];
    expect(JSON.stringify(schemas)).not.toMatch(/\\[up]\{/);
  });

  it('has a type beside each list of texts, and only there', () => {
    const [texts, numbers] = [{ enum: ['a', 'b'] }, { enum: [1, 'b'] }];
    expect(publishedSchema({ anyOf: [texts, numbers] })).toEqual({
      anyOf: [{ type: 'string', ...texts }, numbers],
    });
  });

  it('accepts every payload that the reader accepts', () => {
    fc.assert(
      fc.property(validServiceRequest(), (payload) => {
        expect(faultsOf(payload)).toEqual([]);
        expect(accepts(payload) ? [] : accepts.errors).toEqual([]);
      }),
    );
  });

  it('refuses every payload that the reader refuses, unless only the description texts state the broken rule', () => {
    let refused = 0;
    fc.assert(
      fc.property(mutatedServiceRequest(), (payload) => {
        const faults = faultsOf(payload);
        const isAccepted = accepts(payload);
        refused += isAccepted ? 0 : 1;
        // A portable pattern cannot refuse half of a surrogate pair, which JSON.stringify escapes.
        const inWords = /\\ud[89a-f]/.test(JSON.stringify(payload))
          ? [...rulesInWords, notXml]
          : rulesInWords;
        const unsaid = faults.filter(({ message }) => !inWords.some((rule) => rule.test(message)));
        const isUnexplained = !isAccepted && faults.length === 0;
        expect(isAccepted ? unsaid : isUnexplained && accepts.errors).toEqual(isAccepted ? [] : false);
      }),
      { numRuns: 2000 },
    );
    expect(refused).toBeGreaterThan(200);
  });

  it('contains the configured namespaces', () => {
    const namespaces = { ...defaultNamespaces, fhir: 'https://fhir.other.example' };
    expect(accepts(aServiceRequest({ namespaces }))).toBe(false);
    const others = serviceRequestDocument(namespaces, `${id}?other`);
    expect(ajv.compile(others)(aServiceRequest({ namespaces }))).toBe(true);
  });

  it('has a valid example', () => {
    const example = exampleServiceRequest(defaultNamespaces);
    expect([faultsOf(example), accepts(example)]).toEqual([[], true]);
  });
});

describe('the JSON Schema of a launch request', () => {
  it('has a valid example', () => {
    const example = exampleLaunch('partner-demo');
    expect(readDesktopLaunch(example)).toEqual({ launch: example });
    expect(ajv.compile(publishedSchema(desktopLaunchSchema))(example)).toBe(true);
  });
});
