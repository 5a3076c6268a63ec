import { faultCodes } from '../fault.ts';
import { guidPattern } from '../schema.ts';
import { type Static, type TSchema, Type } from '../type.ts';

const guid = Type.String({ pattern: guidPattern });
/**
 * Returns the schema of text that every consumer can store. It excludes NUL characters and lone surrogates,
 * which PostgreSQL refuses.
 */
const text = (maxLength: number) => Type.String({ maxLength, format: 'xml-text' });
const closed = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });
/** The pattern of the pseudonym of a patient: 256 bits in Base64URL. */
export const pseudonymPattern = '^[\\w-]{43}$';
const pseudonym = Type.String({ pattern: pseudonymPattern });

/**
 * Members that every event may contain. If the user, practice or patient is absent, the audit trail adds it
 * from the launch of the event.
 */
const concerning = {
  user: Type.Optional(closed({ username: text(1024), name: Type.Optional(text(1100)) })),
  /** The practice of the user, with its ODS code or local code. */
  practice: Type.Optional(closed({ code: text(1024), name: Type.Optional(text(1024)) })),
  /** The pseudonym of the patient (`createPatientPseudonyms`), never an identifier. */
  patient: Type.Optional(pseudonym),
  address: Type.Optional(text(45)),
};

/** The members of event data that identify the user, the practice, the patient and the caller's address. */
export type Concerning = Static<ReturnType<typeof closed<typeof concerning>>>;

/**
 * Returns the schema of the data of an event.
 * @param description a sentence that says when the event is sent
 */
const data = <T extends Record<string, TSchema>>(description: string, properties: T) =>
  Type.Object({ ...concerning, ...properties }, { additionalProperties: false, description });

/** The members of every refusal. `reason` is one of a fixed list of words, never text of the caller. */
const refusal = {
  status: Type.Integer({ minimum: 400, maximum: 599 }),
  reason: text(60),
  issuer: Type.Optional(text(300)),
  clientId: Type.Optional(text(200)),
  /** The number of anonymous requests from one address that this event reports together. */
  count: Type.Optional(Type.Integer({ minimum: 1 })),
};

/** The sign-in of the user, if the launching system sent it (`signInMembers`). */
const signIn = {
  acr: Type.Optional(text(100)),
  amr: Type.Optional(Type.Array(text(20), { maxItems: 20 })),
  /** Seconds since 1970. */
  authTime: Type.Optional(Type.Integer()),
};

/**
 * The operator who ended the launches, as given to the command: a name or the reference of an incident
 * ticket.
 */
const operator = text(100);

/** Why a host application ended launches, in its own words. */
const statedReason = Type.Optional(text(100));

/** The code of each error, in the same order as the errors in `paths`. */
const codes = Type.Optional(Type.Array(Type.Enum(faultCodes), { maxItems: 200 }));

/** The members of events about the delivery of an order document to the callback address of a PMS. */
const delivery = { orderGuid: guid, messageId: guid, issuer: text(300), clientId: text(200) };

/**
 * All events of the platform. The type of an event is also its routing key and the name of its schema. `data`
 * never contains unencrypted patient data. The member `sealed` is encrypted for the consumer that has the
 * key, and the audit trail does not store this member.
 */
export const eventCatalogue = {
  'access.token.issued.v1': data('An access token was issued to a client (RFC 6749 section 4.4).', {
    realm: text(100),
    clientId: text(200),
    tokenId: text(100),
    scope: text(1000),
    expiresInSeconds: Type.Integer(),
  }),
  'access.token.refused.v1': data('A token request, a revocation or an introspection was refused.', {
    ...refusal,
    realm: text(100),
  }),
  'access.token.revoked.v1': data('A client revoked its own access token (RFC 7009).', {
    realm: text(100),
    clientId: text(200),
    tokenId: text(100),
  }),
  'access.introspected.v1': data(
    'A resource server queried whether a token is active (RFC 7662). `clientId` identifies the resource server.',
    {
      realm: text(100),
      issuer: text(300),
      clientId: text(200),
      isActive: Type.Boolean(),
    },
  ),
  'desktop.launch.issued.v1': data(
    'A launch identifier for the partner application `clientId` was issued to a host application.',
    {
      realm: text(100),
      clientId: text(200),
      issuer: text(300),
      hostClientId: text(200),
      /** Whether the host application or the identity provider opens the launch URL. */
      opens: Type.Enum(['host', 'service']),
      ttlSeconds: Type.Integer(),
      ...signIn,
    },
  ),
  'desktop.launch.refused.v1': data(
    'A launch was refused at its start (`launches`), at its continuation (`push`, `authorize`) or at its end (`end`).',
    {
      ...refusal,
      realm: text(100),
      step: Type.Enum(['launches', 'push', 'authorize', 'end']),
      hostClientId: Type.Optional(text(200)),
      /** The paths of the errors in the body, or the names of the invalid parameters, without values. */
      paths: Type.Optional(Type.Array(text(200), { maxItems: 200 })),
      codes,
    },
  ),
  'desktop.code.issued.v1': data('A launch identifier was exchanged for an authorization code.', {
    realm: text(100),
    clientId: text(200),
    ttlSeconds: Type.Integer(),
  }),
  'desktop.tokens.issued.v1': data('An authorization code or a refresh token was exchanged for tokens.', {
    realm: text(100),
    clientId: text(200),
    grant: Type.Enum(['authorization_code', 'refresh_token']),
    /** The claim `jti` of the access token. */
    tokenId: text(100),
    scope: text(1000),
    expiresInSeconds: Type.Integer(),
  }),
  'desktop.chain.revoked.v1': data(
    'A launch was revoked: all its codes, refresh tokens and access tokens ended.',
    {
      realm: text(100),
      reason: Type.Enum([
        'code_replayed',
        'code_guessed',
        'refresh_token_replayed',
        'revoked_by_client',
        'ended_by_host',
        'ended_by_operator',
      ]),
      by: Type.Optional(operator),
      statedReason,
    },
  ),
  'desktop.logout.delivered.v1': data(
    'A partner application accepted the logout token of a revoked launch (OpenID Connect Back-Channel Logout 1.0).',
    {
      realm: text(100),
      clientId: text(200),
      attempts: Type.Integer({ minimum: 1 }),
    },
  ),
  'desktop.logout.delivery.failed.v1': data(
    'A partner application did not accept the logout token. Only the first and the last attempt are reported.',
    {
      realm: text(100),
      clientId: text(200),
      attempts: Type.Integer({ minimum: 1 }),
      /** A `DeliveryFailure`. */
      reason: text(40),
      /** The status of the receiver's answer, if the receiver answered. */
      status: Type.Optional(Type.Integer({ minimum: 100, maximum: 999 })),
      /** True if no further attempt follows. */
      isFinal: Type.Boolean(),
    },
  ),
  'launch.url.issued.v1': data('A launch URL was issued to a practice system.', {
    issuer: text(300),
    clientId: text(200),
    action: text(25),
    ttlSeconds: Type.Integer(),
    /**
     * The claim that reserves the originating id of the caller for the action of this launch: the hashed name
     * and the lifetime of the claim.
     */
    claim: Type.Optional(closed({ name: text(64), ttlSeconds: Type.Integer({ minimum: 1 }) })),
    ...signIn,
  }),
  'launch.url.refused.v1': data('A launch URL was refused, or a check by `Validate` found faults.', {
    ...refusal,
    /**
     * The step `validate` is present only if the request was a check that issues no launch URL (`POST
     * /AccessApi/Validate`).
     */
    step: Type.Optional(Type.Enum(['validate'])),
    /** The paths of the errors in the payload, without values. */
    paths: Type.Optional(Type.Array(text(200), { maxItems: 200 })),
    codes,
  }),
  'launch.token.redeemed.v1': data('A launch token was used and a launch session began.', {}),
  'launch.token.refused.v1': data('A launch token was refused at `/secureLaunch`.', {
    ...refusal,
    /** The launch id in the refused token, if it is a GUID. It is not verified. */
    launchId: Type.Optional(guid),
  }),
  'launch.session.ended.v1': data('The user signed out of a launch session.', {}),
  'launch.window.locked.v1': data(
    'Another patient or another user was opened in the same browser, so this launch can submit nothing.',
    { launchId: guid, openedLaunchId: guid },
  ),
  'launch.window.unlocked.v1': data('The user chose to work on a locked launch again.', { launchId: guid }),
  'launch.ended.v1': data(
    'An operator ended a launch of a practice system: its launch token and its launch session.',
    { reason: Type.Enum(['ended_by_operator']), by: operator },
  ),
  'launches.ended.v1': data(
    'An operator, or the host application `clientId` of a desktop realm, ended the launches that match `selection`. Each ended launch has an event of its own.',
    {
      by: Type.Optional(operator),
      realm: Type.Optional(text(100)),
      issuer: Type.Optional(text(300)),
      clientId: Type.Optional(text(200)),
      statedReason,
      selection: closed({
        user: Type.Optional(text(1024)),
        practice: Type.Optional(text(1024)),
        /** The client that launched: a practice system or a host application. */
        client: Type.Optional(text(200)),
        partner: Type.Optional(text(200)),
      }),
    },
  ),
  'order.submitted.v1': data(
    'A request was submitted: ordered, or amended by another action. `sealed` contains the whole request.',
    {
      orderGuid: guid,
      launchId: guid,
      issuer: text(300),
      clientId: text(200),
      /** The version of the request, which starts at 1 and increases by 1 with each amendment. */
      orderVersion: Type.Optional(Type.Integer({ minimum: 1 })),
      action: Type.Optional(text(25)),
      /** The status of the request after this submission (OLTR: Request status). */
      status: Type.Optional(Type.Enum(['Incomplete', 'Complete'])),
      /** The references of the orders, one for each laboratory (order document: `orderReference`). */
      orderReferences: Type.Optional(Type.Array(text(100), { maxItems: 50 })),
      batches: Type.Integer({ minimum: 1 }),
      tests: Type.Integer({ minimum: 1 }),
      /** What the user did: ordered tests, changed the tests, or recorded samples. */
      step: Type.Optional(Type.Enum(['order', 'change', 'samples'])),
      samples: Type.Optional(Type.Integer({ minimum: 0 })),
      samplesCollected: Type.Optional(Type.Integer({ minimum: 0 })),
      /** The encrypted JSON `{ order: Order }`, which contains the request with all its batches. */
      sealed: Type.String(),
    },
  ),
  'order.viewed.v1': data('A request was shown in a launch.', {
    orderGuid: guid,
    launchId: guid,
    action: text(25),
  }),
  'orders.listed.v1': data('A page of a list of requests was shown in a launch.', {
    launchId: guid,
    action: text(25),
    orders: Type.Integer({ minimum: 0 }),
    patients: Type.Optional(Type.Array(pseudonym, { maxItems: 100, uniqueItems: true })),
  }),
  'order.printed.v1': data('The request form or the sample labels were opened for printing.', {
    orderGuid: guid,
    launchId: guid,
    what: Type.Enum(['form', 'labels']),
    /** Whether the form or the labels were printed before. */
    isReprint: Type.Boolean(),
  }),
  'order.patient.confirmed.v1': data(
    'The user confirmed that a request with another date of birth is for the patient of the launch.',
    { orderGuid: guid, launchId: guid },
  ),
  'order.document.rendered.v1': data('The order document of a submission was rendered.', {
    orderGuid: guid,
    messageId: guid,
  }),
  'order.document.returned.v1': data('A launch session read the Notepad page or the order document.', {
    orderGuid: guid,
    messageId: guid,
    by: text(20),
  }),
  'order.document.delivered.v1': data('The callback address of the practice system accepted the document.', {
    ...delivery,
    attempts: Type.Integer({ minimum: 1 }),
  }),
  'order.document.delivery.failed.v1': data(
    'The callback address did not accept the document. Only the first and the last attempt are reported.',
    {
      ...delivery,
      attempts: Type.Integer({ minimum: 0 }),
      /** A `DocumentFailure`. */
      reason: text(40),
      /** The status of the receiver's answer, if the receiver answered. */
      status: Type.Optional(Type.Integer({ minimum: 100, maximum: 999 })),
      /** True if only a replay by an operator can cause a further attempt. */
      isFinal: Type.Boolean(),
    },
  ),
  'audit.searched.v1': data('The support desk or a privacy officer searched the audit trail.', {
    /**
     * The client that searched. For a search on the pages, the client id with which the audit trail signs
     * users in.
     */
    clientId: text(200),
    searchedId: Type.Optional(text(64)),
    /** The names of all search criteria, without their values. */
    criteria: Type.Optional(Type.Array(text(40), { maxItems: 30 })),
    /** The format of the result: a page of the application, or an export. */
    format: Type.Optional(Type.Enum(['page', 'json', 'ndjson', 'fhir'])),
  }),
  'audit.session.started.v1': data('A member of staff signed in to the pages of the audit trail.', {
    clientId: text(200),
  }),
  'audit.refused.v1': data('A request to read the audit trail, or a sign-in to its pages, was refused.', {
    ...refusal,
    interface: Type.Enum(['events', 'fhir', 'pages']),
  }),
  'resource.read.v1': data(
    'A partner application read a protected resource with the access token of a desktop launch.',
    {
      issuer: text(300),
      clientId: text(200),
      tokenId: text(100),
      resource: text(20),
    },
  ),
  'resource.refused.v1': data('A request to the resource API was refused.', {
    ...refusal,
    resource: text(20),
  }),
} as const;

export type EventType = keyof typeof eventCatalogue;

export type RefusalType = Extract<EventType, `${string}.refused.v1`>;

export type EventData<T extends EventType> = Static<(typeof eventCatalogue)[T]>;
