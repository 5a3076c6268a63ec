import { type Static, type TSchema, Type } from 'typebox';
import { guidPattern } from '../schema.ts';

const guid = Type.String({ pattern: guidPattern });
const text = (maxLength: number) => Type.String({ maxLength });
const data = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

/** Why a launch or a token was not given. Words of a closed list: nothing that a caller sent appears in it. */
const refusal = {
  status: Type.Integer({ minimum: 400, maximum: 599 }),
  reason: text(60),
  issuer: Type.Optional(text(300)),
  clientId: Type.Optional(text(200)),
};

/** A document on its way to the callback address of a PMS. */
const delivery = { orderGuid: guid, messageId: guid, issuer: text(300), clientId: text(200) };

/**
 * Every event of the platform: its type is also its routing key and the name of its schema.
 * `data` never carries patient data in the clear; a field named `sealed` is ciphertext for the consumer that
 * holds the key, and the audit trail does not keep it.
 */
export const eventCatalogue = {
  /** An access token was given to a client (RFC 6749 section 4.4). */
  'access.token.issued.v1': data({
    realm: text(100),
    clientId: text(200),
    tokenId: text(100),
    scope: text(1000),
    expiresInSeconds: Type.Integer(),
  }),
  'access.token.refused.v1': data({ ...refusal, realm: text(100) }),
  /** A resource server asked whether a token is alive (RFC 7662). `clientId` is who asked. */
  'access.introspected.v1': data({
    realm: text(100),
    issuer: text(300),
    clientId: text(200),
    isActive: Type.Boolean(),
  }),
  /** A host application was given a launch identifier for the partner application `clientId`. */
  'desktop.launch.issued.v1': data({
    realm: text(100),
    clientId: text(200),
    issuer: text(300),
    hostClientId: text(200),
    /** Who opens the launch URL. */
    opens: Type.Enum(['host', 'service']),
    ttlSeconds: Type.Integer(),
  }),
  /** A launch was not begun (`launches`) or not gone on with (`authorize`). */
  'desktop.launch.refused.v1': data({
    ...refusal,
    realm: text(100),
    step: Type.Enum(['launches', 'authorize']),
    hostClientId: Type.Optional(text(200)),
    /** Paths of the faults in the body, or names of the faulty parameters, without values. */
    paths: Type.Optional(Type.Array(text(200), { maxItems: 200 })),
  }),
  /** A launch identifier was used up for an authorization code (Desktop: Authorization endpoint). */
  'desktop.code.issued.v1': data({ realm: text(100), clientId: text(200), ttlSeconds: Type.Integer() }),
  /** An authorization code or a refresh token was used for tokens. */
  'desktop.tokens.issued.v1': data({
    realm: text(100),
    clientId: text(200),
    grant: Type.Enum(['authorization_code', 'refresh_token']),
    /** `jti` of the access token. */
    tokenId: text(100),
    scope: text(1000),
    expiresInSeconds: Type.Integer(),
  }),
  /** Everything that followed from a launch ended at once: codes, refresh tokens and access tokens. */
  'desktop.chain.revoked.v1': data({
    realm: text(100),
    reason: Type.Enum(['code_replayed', 'refresh_token_replayed', 'revoked_by_client']),
  }),
  /** A launch URL was handed to a PMS (OLTR: Launch token states, none to Issued). */
  'launch.url.issued.v1': data({
    issuer: text(300),
    clientId: text(200),
    action: text(25),
    ttlSeconds: Type.Integer(),
  }),
  'launch.url.refused.v1': data({
    ...refusal,
    /** Paths of the faults in the payload, without values. */
    paths: Type.Optional(Type.Array(text(200), { maxItems: 200 })),
  }),
  /** A launch token was used (OLTR: Launch token states, Issued to Used) and a launch session began. */
  'launch.token.redeemed.v1': data({}),
  'launch.token.refused.v1': data(refusal),
  /** The user ended a launch session (sign-out); nothing opens with it any more. */
  'launch.session.ended.v1': data({}),
  /**
   * A request was submitted in a launch: made by OrderTest, or amended by another action. `sealed` holds
   * `{ order: Order }`, the request with all its batches.
   */
  'order.submitted.v1': data({
    orderGuid: guid,
    launchId: guid,
    issuer: text(300),
    clientId: text(200),
    /** Which state of the request this is: 1 as it was ordered, one more with each amendment. */
    orderVersion: Type.Optional(Type.Integer({ minimum: 1 })),
    action: Type.Optional(text(25)),
    /** OLTR: Request status, after this submission. */
    status: Type.Optional(Type.Enum(['Incomplete', 'Complete'])),
    batches: Type.Integer({ minimum: 1 }),
    tests: Type.Integer({ minimum: 1 }),
    sealed: Type.String(),
  }),
  /** A request was shown in a launch, or a page of a list of requests. */
  'order.viewed.v1': data({ orderGuid: guid, launchId: guid, action: text(25) }),
  'orders.listed.v1': data({ launchId: guid, action: text(25), orders: Type.Integer({ minimum: 0 }) }),
  /** The request form or the sample labels were opened for printing. */
  'order.printed.v1': data({
    orderGuid: guid,
    launchId: guid,
    what: Type.Enum(['form', 'labels']),
    /** Whether they were printed before. */
    isReprint: Type.Boolean(),
  }),
  'order.document.rendered.v1': data({ orderGuid: guid, messageId: guid }),
  /** The Notepad page or the document itself was read by a launch session. */
  'order.document.returned.v1': data({ orderGuid: guid, messageId: guid, by: text(20) }),
  /** The callback address of the PMS took the document, at this attempt. */
  'order.document.delivered.v1': data({ ...delivery, attempts: Type.Integer({ minimum: 1 }) }),
  /** It was not taken: told of the first attempt and of the end, not of those between. */
  'order.document.delivery.failed.v1': data({
    ...delivery,
    attempts: Type.Integer({ minimum: 0 }),
    /** A word of a closed list. */
    reason: text(40),
    /** What the receiver answered, if it did. */
    status: Type.Optional(Type.Integer({ minimum: 100, maximum: 999 })),
    /** Nothing more is tried until somebody replays it. */
    isFinal: Type.Boolean(),
  }),
  /** The support desk looked up what happened to a GUID. */
  'audit.searched.v1': data({ clientId: text(200), searchedId: text(64) }),
  /** A partner application read a protected resource with the access token of a desktop launch. */
  'resource.read.v1': data({
    issuer: text(300),
    clientId: text(200),
    tokenId: text(100),
    resource: text(20),
  }),
  'resource.refused.v1': data({ ...refusal, resource: text(20) }),
} as const;

export type EventType = keyof typeof eventCatalogue;

/**
 * Who listens, by the name of its queue, and to which types (every type where none is named). Whoever publishes declares
 * these queues too: what happens before a consumer runs for the first time waits for it there.
 */
export const eventConsumers: Readonly<
  Record<'audit-trail' | 'order-renderer', { readonly types?: readonly EventType[] }>
> = {
  'audit-trail': {},
  'order-renderer': { types: ['order.submitted.v1'] },
};

export type EventData<T extends EventType> = Static<(typeof eventCatalogue)[T]>;
