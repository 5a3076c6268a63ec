import { withCheckDigit } from '@clinical-launch/testing/nhs-number';
import { schemaFaultsOf, textsAt, xpathOf } from '@clinical-launch/testing/xml';
import { describe, expect, it } from '@jest/globals';
import { escapeMarkup } from '../src/formats.ts';
import { type Order, type OrderBatch, parseOrder } from '../src/order/order.ts';
import {
  type OrderDocumentOptions,
  orderDocumentXsd,
  renderOrderDocument,
} from '../src/order/order-document.ts';

const worldNames = {
  family: "Ó Súilleabháin-D'Ângelo & <Sons>",
  given: ['Zoë “Zee”', 'محمد', '𠮷野'],
  title: 'Prof. Dr',
};
const awkwardLine = ']]> </textarea> &amp; "The Barn" <!-- <![CDATA[ <?x ?>';

describe('the order document', () => {
  it('starts with the XML declaration and is valid against its schema', async () => {
    const document = render(anOrder());
    expect(document.startsWith('<?xml version="1.0"?>\n<onlineOrder ')).toBe(true);
    expect(await schemaFaultsOf(document)).toEqual([]);
  });

  it('contains every field of the order in the specified element', async () => {
    const document = render(anOrder());
    const expected = {
      messageId: '5f4d8a52-7c0d-4c7e-9a58-0a3f6f1f3b01',
      'serviceProvider/system/systemName': 'Clinical Launch',
      'serviceProvider/system/systemVersion': '1.0.0',
      'serviceProvider/organisation/name': 'North Coast Pathology',
      'serviceProvider/organisation/identificationCode/value': 'RCB00',
      'serviceProvider/organisation/identificationCode/scheme': 'LOCAL',
      'patient/dateOfBirth': '19580228',
      'patient/familyName': 'Whitfield',
      'patient/firstNames': 'Margaret Anne',
      'patient/title': 'Mrs',
      'patient/nhsNumber': '9434765919',
      'orderHeader/guid': '0b9c4c9e-52cf-4d43-8d8f-1d6f5f6a7b02',
      'orderHeader/requestor/familyName': 'Bairstow',
      'orderHeader/requestor/firstNames': 'Thomas',
      'orderHeader/requestor/title': 'Dr',
      'orderHeader/requestor/identificationCode/value': 'G8134567',
      'orderHeader/requestor/identificationCode/scheme': 'NHSGPNATIONALCODES',
      'orderHeader/timeofRequest': '20231106194305',
      'orderHeader/orderBatch/refid': 'B1',
      'orderHeader/orderBatch/guid': '7a1de1d0-0a0b-4e0c-8f0d-2e6f5a4b3c03',
      'orderHeader/orderBatch/orderReference': 'CL-1-1',
      'orderHeader/orderBatch/Provider/name': 'North Coast Pathology',
      'orderHeader/orderBatch/Provider/identificationCode/value': 'RCB00',
      'orderHeader/orderBatch/Provider/identificationCode/scheme': 'NHSORGANISATIONS',
      'orderHeader/orderBatch/OrderCategory': 'Blood Sciences',
      'orderHeader/orderBatch/Status': 'S',
      'orderHeader/orderBatch/LastStatusDate': '20231106194410',
      'orderHeader/orderBatch/sample/refid': 'S1',
      'orderHeader/orderBatch/sample/description': 'EDTA blood',
      'orderHeader/orderBatch/sample/sampleCompletionTime': '20231106194400',
      'orderHeader/orderBatch/testOrder/refid': 'T1',
      'orderHeader/orderBatch/testOrder/sample/refid': 'S1',
      'orderHeader/orderBatch/testOrder/testDescription': 'Full blood count',
      'orderHeader/orderBatch/testOrder/code/value': 'FBC',
      'orderHeader/orderBatch/testOrder/code/scheme': 'LOCAL',
      'orderHeader/orderBatch/testOrder/code/term': 'Full blood count',
      'orderHeader/orderBatch/testOrder/Status': 'D',
      'orderHeader/orderBatch/testOrder/LastStatusDate': '20231106194430',
    };
    expect(await textsAt(document, Object.keys(expected))).toEqual(expected);
  });

  it('contains names and codes that an XML parser returns unchanged', async () => {
    const order = anOrder({
      patient: { ...anOrder().patient, name: worldNames },
      performer: {
        identifier: { system: 'performing-org', value: awkwardLine },
        name: 'A\r\nB\rC\tD\nE  F ',
      },
    });
    const document = render(order);
    expect(await schemaFaultsOf(document)).toEqual([]);
    const expected = {
      'patient/familyName': worldNames.family,
      'patient/firstNames': 'Zoë “Zee” محمد 𠮷野',
      'serviceProvider/organisation/identificationCode/value': awkwardLine,
      'serviceProvider/organisation/name': 'A\r\nB\rC\tD\nE  F ',
    };
    expect(await textsAt(document, Object.keys(expected))).toEqual(expected);
  });

  it('contains empty elements if the patient has no title, first names or NHS number', async () => {
    const { patient } = anOrder();
    const document = render(
      anOrder({
        patient: {
          ...patient,
          name: { family: 'Whitfield', given: [] },
          identifiers: [{ system: 'hospital-number', value: 'WH-0042317' }],
        },
      }),
    );
    expect(await schemaFaultsOf(document)).toEqual([]);
    expect(await textsAt(document, ['patient/title', 'patient/firstNames', 'patient/nhsNumber'])).toEqual({
      'patient/title': '',
      'patient/firstNames': '',
      'patient/nhsNumber': '',
    });
  });

  it.each([
    ['is empty for a placeholder, by which a laboratory could join two patients', '9999999999', ''],
    ['is empty for a number that is never issued', withCheckDigit(512_345_678), ''],
    ['stays as sent for a mistyped number', '943 476 5918', '943 476 5918'],
  ])('has an nhsNumber that %s', async (_what, value, expected) => {
    const patient = { ...anOrder().patient, identifiers: [{ system: 'nhs-number' as const, value }] };
    const document = render(anOrder({ patient }));
    expect(await textsAt(document, ['patient/nhsNumber'])).toEqual({ 'patient/nhsNumber': expected });
  });

  it('uses the scheme LOCAL for local codes and NHSORGANISATIONS for ODS codes', async () => {
    const document = render(
      anOrder({
        requester: { ...anOrder().requester, identifier: { system: 'local-staff-code', value: 'tb' } },
        performer: {
          identifier: { system: 'ods-organization-code', value: 'RCB' },
          name: 'North Coast Pathology',
        },
      }),
    );
    const paths = [
      'orderHeader/requestor/identificationCode/scheme',
      'serviceProvider/organisation/identificationCode/scheme',
    ];
    expect(Object.values(await textsAt(document, paths))).toEqual(['LOCAL', 'NHSORGANISATIONS']);
  });

  it('contains an empty sampleCompletionTime until the sample is taken', async () => {
    const document = render(
      anOrder({ batches: [aBatch({ samples: [{ id: 'S1', description: 'EDTA blood' }] })] }),
    );
    expect(document).toContain('<sampleCompletionTime></sampleCompletionTime>');
    expect(await schemaFaultsOf(document)).toEqual([]);
  });

  it('contains one orderBatch for each laboratory location, with the samples and tests of that location', async () => {
    const document = render(anOrder({ batches: [aBatch(), secondBatch()] }));
    expect(await schemaFaultsOf(document)).toEqual([]);
    const refids = await xpathOf(
      document,
      'concat(count(//*[local-name()="orderBatch"]), " ", //*[local-name()="orderBatch"][2]/*[local-name()="testOrder"]/*[local-name()="sample"]/*)',
    );
    expect(refids).toBe('2 S2');
  });

  it('uses the configured XML namespace', async () => {
    const xmlNamespace = 'http://example.org/orders?a=1&b=$&';
    const document = render(anOrder(), { xmlNamespace });
    expect(await xpathOf(document, 'namespace-uri(/*)')).toBe(xmlNamespace);
    expect(await schemaFaultsOf(document, orderDocumentXsd(xmlNamespace))).toEqual([]);
    expect(await schemaFaultsOf(document)).not.toEqual([]);
  });
});

describe('a time in the order document', () => {
  it.each([
    ['in winter, when London uses UTC', '2023-11-06T19:43:05Z', '20231106194305'],
    ['in summer, when London is an hour ahead', '2023-07-06T23:43:05Z', '20230707004305'],
    ['in the last second before the clocks go forward', '2024-03-31T00:59:59Z', '20240331005959'],
    ['in the first second after the clocks went forward', '2024-03-31T01:00:00Z', '20240331020000'],
    ['at half past one, before the clocks go back', '2024-10-27T00:30:00Z', '20241027013000'],
    ['at half past one, after the clocks went back', '2024-10-27T01:30:00Z', '20241027013000'],
    ['at midnight, as hour 00 of the new day', '2024-01-01T00:00:00Z', '20240101000000'],
    ['without the fraction of a second', '2023-11-06T19:43:05.9999999+00:00', '20231106194305'],
    ['with an offset', '2023-11-06T19:43:05.5+05:30', '20231106141305'],
    ['at a leap second, as the start of the next minute', '2016-12-31T23:59:60Z', '20170101000000'],
    ['at a leap second with a fraction and an offset', '2017-01-01T05:29:60.25+05:30', '20170101000000'],
    ['in a year of fewer than four digits', '0987-06-05T12:00:00Z', '09870605115845'],
  ])('is a local time in London: %s', async (_case, authoredOn, expected) => {
    const document = render(anOrder({ authoredOn }));
    expect(await schemaFaultsOf(document)).toEqual([]);
    expect(await xpathOf(document, 'string(//*[local-name()="timeofRequest"])')).toBe(expected);
  });

  it('is a local time in the configured time zone', () => {
    expect(render(anOrder(), { timeZone: 'Asia/Kathmandu' })).toContain('<timeofRequest>20231107012805<');
  });

  it('is refused if it is invalid', () => {
    expect(() => render(anOrder({ authoredOn: 'yesterday' }))).toThrow(RangeError);
  });
});

describe('the schema of the order document', () => {
  const document = render(anOrder({ batches: [aBatch(), secondBatch()] }));

  it.each([
    ['a missing element', '<title>Mrs</title>', ''],
    ['a repeated element', '<title>Mrs</title>', '<title>Mrs</title><title>Mrs</title>'],
    [
      'elements in another order',
      /(<familyName>Whitfield<\/familyName>)(\s*)(<firstNames>.*<\/firstNames>)/,
      '$3$2$1',
    ],
    ['a name in another case', /timeofRequest/g, 'timeOfRequest'],
    ['an unknown element', '<title>Mrs</title>', '<title>Mrs</title><gender>female</gender>'],
    ['an attribute', '<title>', '<title use="usual">'],
    ['a date of birth with dashes', '19580228', '1958-02-28'],
    ['a time without seconds', '20231106194305', '202311061943'],
    ['an empty time of request', '20231106194305', ''],
    ['a status that is not R, S or D', '<Status>S<', '<Status>X<'],
    ['an unknown scheme', '>NHSGPNATIONALCODES<', '>GMC<'],
    [
      'two samples with the same refid',
      '<refid>S2</refid>\n        <desc',
      '<refid>S1</refid>\n        <desc',
    ],
    ['two tests with the same refid', '<refid>T2</refid>', '<refid>T1</refid>'],
    ['two batches with the same refid', '<refid>B2</refid>', '<refid>B1</refid>'],
    ['a test whose sample does not exist', '<sample><refid>S2<', '<sample><refid>S9<'],
    ['a test whose sample belongs to another batch', '<sample><refid>S2<', '<sample><refid>S1<'],
    ['an order without a batch', /<orderBatch>.*<\/orderBatch>/s, ''],
  ])('refuses %s', async (_case, original, changed) => {
    expect(await schemaFaultsOf(document)).toEqual([]);
    const mutated = document.replace(original, changed);
    expect(mutated).not.toBe(document);
    expect(await schemaFaultsOf(mutated)).not.toEqual([]);
  });
});

describe('escapeMarkup', () => {
  it('returns text without markup characters unchanged', () => {
    expect(escapeMarkup('Zoë محمد 𠮷野 \t\n')).toBe('Zoë محمد 𠮷野 \t\n');
  });

  it('escapes characters that could end an element, an attribute or a line', () => {
    expect(escapeMarkup(`</textarea>&"'\r`)).toBe('&lt;/textarea&gt;&amp;&quot;&#39;&#13;');
  });
});

describe('parseOrder', () => {
  it('accepts an order that was serialised as JSON', () => {
    expect(parseOrder(JSON.parse(JSON.stringify(anOrder())))).toEqual(anOrder());
  });

  it('accepts an order with unknown members from a newer release', () => {
    const [batch] = anOrder().batches;
    const newer = { ...anOrder(), newer: 1, batches: [{ ...batch, newer: { member: true } }] };
    expect(parseOrder(newer)).toEqual(newer);
  });

  it('refuses an invalid order with an error that contains paths but no values', () => {
    const { guid: _guid, ...withoutGuid } = anOrder({ authoredOn: 'Whitfield' });
    expect(() => parseOrder(withoutGuid)).toThrow(/guid is required.*authoredOn/);
    expect(() => parseOrder(withoutGuid)).not.toThrow(/Whitfield/);
    expect(() => parseOrder(undefined)).toThrow(TypeError);
  });
});

function anOrder(changed: Partial<Order> = {}): Order {
  return {
    guid: '0b9c4c9e-52cf-4d43-8d8f-1d6f5f6a7b02',
    patient: {
      name: { title: 'Mrs', family: 'Whitfield', given: ['Margaret', 'Anne'] },
      birthDate: '1958-02-28',
      gender: 'female',
      address: { lines: ['4 Harbour Row'], postalCode: 'YO22 4QT' },
      identifiers: [
        { system: 'hospital-number', value: 'WH-0042317' },
        { system: 'nhs-number', value: '9434765919' },
      ],
      telecom: [],
    },
    requester: {
      identifier: { system: 'professional-code', value: 'G8134567' },
      name: { title: 'Dr', family: 'Bairstow', given: ['Thomas'] },
    },
    practice: { identifier: { system: 'ods-organization-code', value: 'B82017' }, name: 'Harbour Surgery' },
    performer: { identifier: { system: 'performing-org', value: 'RCB00' }, name: 'North Coast Pathology' },
    authoredOn: '2023-11-06T19:43:05Z',
    batches: [aBatch()],
    ...changed,
  };
}

function aBatch(changed: Partial<OrderBatch> = {}): OrderBatch {
  return {
    id: 'B1',
    guid: '7a1de1d0-0a0b-4e0c-8f0d-2e6f5a4b3c03',
    orderReference: 'CL-1-1',
    provider: { name: 'North Coast Pathology', code: { value: 'RCB00', scheme: 'NHSORGANISATIONS' } },
    category: 'Blood Sciences',
    status: 'S',
    statusAt: '2023-11-06T19:44:10.120Z',
    samples: [{ id: 'S1', description: 'EDTA blood', completedAt: '2023-11-06T19:44:00.000Z' }],
    tests: [aTest('T1', 'S1')],
    ...changed,
  };
}

function secondBatch(): OrderBatch {
  return aBatch({
    id: 'B2',
    samples: [{ id: 'S2', description: 'Mid-stream urine' }],
    tests: [aTest('T2', 'S2')],
  });
}

function aTest(id: string, sample: string): OrderBatch['tests'][number] {
  return {
    id,
    sample,
    description: 'Full blood count',
    code: { value: 'FBC', scheme: 'LOCAL', term: 'Full blood count' },
    status: 'D',
    statusAt: '2023-11-06T19:44:30.999Z',
  };
}

function render(order: Order, changed: Partial<OrderDocumentOptions> = {}): string {
  return renderOrderDocument(order, {
    messageId: '5f4d8a52-7c0d-4c7e-9a58-0a3f6f1f3b01',
    xmlNamespace: 'urn:clinical-launch:online-order:1',
    timeZone: 'Europe/London',
    system: { name: 'Clinical Launch', version: '1.0.0' },
    ...changed,
  });
}
