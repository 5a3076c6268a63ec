import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { callbackBody } from '@clinical-launch/contracts/order/callback';
import { signatureHeaders } from '@clinical-launch/crypto/webhook-signature';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { asyncApiFile } from '../../../tools/docs/asyncapi.ts';

type Message = { readonly headers: object; readonly payload: object };
type AsyncApi = {
  readonly channels: { readonly orderDocument: { readonly messages: { readonly orderDocument: Message } } };
  readonly components: { readonly messages: Readonly<Record<string, Message>> };
};

const text = readFileSync(asyncApiFile, 'utf8');
const document = parse(text) as AsyncApi;
const ajv = new Ajv({ strict: true, keywords: ['components'], formats: { 'date-time': true } });

describe('docs/asyncapi.yaml', () => {
  it('is valid according to the JSON Schema of AsyncAPI 3.0', () => {
    const published = import.meta.resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    const schema = JSON.parse(readFileSync(new URL(published), 'utf8'));
    const isValid = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    expect(isValid(document) ? [] : isValid.errors).toEqual([]);
  });

  it('contains no dangling reference', () => {
    const references = [...text.matchAll(/\$ref: '?#\/([^'\n]+)/g)].map(([, path = '']) => path);
    const found = (path: string) =>
      path.split('/').reduce<unknown>((part, name) => Object(part)[name], document) !== undefined;
    expect(references.length).toBeGreaterThan(80);
    expect(references.filter((path) => !found(path))).toEqual([]);
  });

  it('describes every event of the catalogue', () => {
    expect(Object.keys(document.components.messages)).toEqual(Object.keys(eventCatalogue));
  });

  it('accepts a newly created event, and rejects the same event with a wrong source', () => {
    const { components } = document;
    const accepts = ajv.compile({ ...components.messages['launch.token.redeemed.v1']?.payload, components });
    const origin = {
      source: '/launch-gateway',
      correlationId: randomUUID(),
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      now: new Date(),
    };
    const event = createEvent('launch.token.redeemed.v1', origin, {});
    expect([accepts(event), accepts({ ...event, source: '/ordering' })]).toEqual([true, false]);
  });

  it('accepts the headers and the body of a callback', () => {
    const { headers, payload } = document.channels.orderDocument.messages.orderDocument;
    const body = callbackBody({
      orderGuid: randomUUID(),
      orderVersion: 1,
      launchId: randomUUID(),
      messageId: randomUUID(),
      renderedAt: new Date(),
      xml: '<onlineOrder/>',
    });
    const secrets = ['whsec_c2VjcmV0', 'whsec_b3RoZXI='];
    const sent = signatureHeaders({ id: randomUUID(), now: Date.now(), body, secrets });
    const accepted = [ajv.compile(payload)(JSON.parse(body)), ajv.compile(headers)(sent)];
    expect(accepted).toEqual([true, true]);
  });
});
