import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import { runsOf } from '@clinical-launch/testing/runs';
import { anEvent } from '@clinical-launch/testing/ticket-fixtures';
import { afterAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TicketKind } from '../src/tickets.ts';
import { inMemory, onRedis, type TicketsUnderTest } from './tickets-under-test.ts';

/*
 * Any sequence of operations has the same outcomes and events in Redis and in memory. Time passes in steps of
 * 10,000 seconds, and each lifetime ends 5,000 seconds before or after a step. So the few real seconds that
 * pass in Redis during a sequence never change an outcome.
 */

/** One implementation, and the texts of its tickets. Both implementations number tickets in the same order. */
type Side = TicketsUnderTest & { readonly texts: string[] };

/** A chain of tickets. A chain with a claim is stored in the shard of the claim. */
type ModelChain = { readonly id: string; readonly claim?: string };

/** What both implementations have in common: the chains, and the kind of each ticket. */
class Model {
  readonly chains: ModelChain[] = [];
  readonly kinds: TicketKind[] = [];

  begin(claim?: string): ModelChain {
    const chain = { id: randomUUID(), ...withoutUndefined({ claim }) };
    this.chains.push(chain);
    return chain;
  }

  /** Returns a chain that Redis finds by its correlation id. */
  plainChain(index: number): ModelChain {
    const plain = this.chains.filter(({ claim }) => claim === undefined);
    return plain.at(-1 - index) ?? this.begin();
  }
}

type Step = {
  readonly act: (side: Side) => Promise<unknown>;
  /** The kind of the ticket that the step may issue. */
  readonly issues?: TicketKind;
};

/** An operation that both implementations run, and whose results must be equal. */
class Operation implements fc.AsyncCommand<Model, readonly Side[]> {
  readonly #title: string;
  readonly #prepare: (model: Model) => Step;

  constructor(title: string, prepare: (model: Model) => Step) {
    this.#title = title;
    this.#prepare = prepare;
  }

  check = () => true;
  toString = () => this.#title;

  async run(model: Model, sides: readonly Side[]): Promise<void> {
    const { act, issues } = this.#prepare(model);
    const results = await Promise.all(
      sides.map(async (side) => comparable(side, await act(side).catch(nameOf))),
    );
    assert.deepEqual(results[1], results[0]);
    if (issues !== undefined && (sides[0]?.texts.length ?? 0) > model.kinds.length) model.kinds.push(issues);
  }
}

const nameOf = (error: unknown) => ({ thrown: error instanceof TypeError ? 'TypeError' : String(error) });

/** Returns a result with the numbers of tickets instead of their texts, and times in thousands of seconds. */
function comparable({ texts }: Side, result: unknown): unknown {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return result;
  const members = Object.entries(result).map(([name, value]: [string, unknown]) => {
    if (name === 'chainEndsInSeconds' || name === 'waitSeconds')
      return [name, Math.round(Number(value) / 1000)];
    if (name !== 'ticket' && name !== 'successor') return [name, value];
    if (!texts.includes(String(value))) texts.push(String(value));
    return [name, texts.indexOf(String(value))];
  });
  return Object.fromEntries(members);
}

/** The kind of the successor of each kind. A repetition asks for a successor of the same kind as before. */
const nextKinds = {
  'launch-token': 'launch-session',
  'launch-session': 'launch-session',
  'launch-identifier': 'authorization-code',
  'pushed-request': 'authorization-code',
  'authorization-code': 'refresh-token',
  'refresh-token': 'refresh-token',
} as const satisfies Record<TicketKind, TicketKind>;

const kind = fc.constantFrom('launch-token', 'launch-identifier', 'authorization-code', 'refresh-token');
const lifetime = fc.constantFrom(15_000, 35_000, 105_000);
const index = fc.nat({ max: 4 });
const times = fc.integer({ min: 1, max: 3 });
/** Draws a value in `percent` of the cases, and otherwise undefined. */
const maybe = <Value>(value: fc.Arbitrary<Value>, percent = 50) =>
  fc.oneof(
    { weight: percent, arbitrary: value },
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
  );
const challenge = maybe(fc.constantFrom('c', 'd'), 25);
const proofs = fc.constantFrom(['c', 'd'], ['c', 'd'], ['c', 'd'], ['c'], ['x']);
const proof = maybe(fc.record({ name: fc.constantFrom('p', 'q'), forSeconds: lifetime }), 25);
const owner = fc.constantFrom('host one', 'host two');
const labels = fc.constantFrom(['a'], ['a'], ['a', 'b'], []);
const revoking = maybe(fc.record({ revokeForSeconds: lifetime, limit: times }), 25);

/** Returns operations of one kind, each with drawn values. */
const operations = <Values>(
  name: string,
  values: { [Key in keyof Values]: fc.Arbitrary<Values[Key]> },
  prepare: (values: Values, model: Model) => Step,
) =>
  fc
    .record(values)
    .map((drawn) => new Operation(`${name} ${JSON.stringify(drawn)}`, (model) => prepare(drawn, model)));

/** One of the newest tickets, of its own kind or of another. The ticket before the first was never issued. */
const aTicket = fc.record({ age: fc.constantFrom(0, 0, 0, 1, 1, 2, 3), asKind: maybe(kind, 5) });
const chosen = (
  { age, asKind }: { readonly age: number; readonly asKind: TicketKind | undefined },
  { kinds }: Model,
) => {
  const number = kinds.length - 1 - age;
  const own = asKind ?? kinds[number] ?? 'refresh-token';
  return { own, textIn: ({ texts }: Side) => texts[number] ?? 'A'.repeat(89) };
};

const issue = operations(
  'issue',
  {
    kind,
    ttlSeconds: lifetime,
    detail: maybe(fc.constant({ scope: 'launch' })),
    challenge,
    notice: maybe(fc.record({ content: fc.constant('page'), ttlSeconds: lifetime })),
    chainSeconds: maybe(lifetime),
    recorded: maybe(fc.record({ chainSeconds: maybe(lifetime, 95), owner, chainLabels: maybe(labels, 80) })),
    claim: maybe(
      fc.record({
        name: fc.constantFrom('order one', 'order two'),
        holder: fc.constantFrom('OrderTest', 'UpdateTest'),
        joins: fc.constantFrom([], ['OrderTest']),
        ttlSeconds: lifetime,
      }),
      25,
    ),
    joins: maybe(index, 25),
  },
  ({ kind: issues, joins, recorded, ...request }, model) => {
    const isFirst = joins === undefined || request.claim !== undefined || recorded !== undefined;
    const { id } = isFirst ? model.begin(request.claim?.name) : model.plainChain(joins);
    const { owner: recordOwner, ...chain } = recorded ?? {};
    const chainRecord = recordOwner && { owner: recordOwner, audience: 'partner' };
    const own = { context: { of: id }, correlationId: id, events: [anEvent(id)] };
    const issue = { ...request, ...own, ...chain, chainRecord };
    return { issues, act: ({ tickets }) => tickets.issue(issues, withoutUndefined(issue)) };
  },
);

const push = operations(
  'push',
  {
    ticket: aTicket,
    proofs,
    challenge,
    ttlSeconds: lifetime,
    proof,
    limit: fc.record({ tickets: times, seconds: lifetime }),
  },
  ({ ticket, proofs: given, ...request }, model) => {
    const { own, textIn } = chosen(ticket, model);
    return {
      issues: 'pushed-request',
      act: (side) =>
        side.tickets.issueAdditional('pushed-request', {
          ...withoutUndefined(request),
          live: { kind: own, ticket: textIn(side), proofs: given },
          context: { pushed: true },
        }),
    };
  },
);

const redeem = operations(
  'redeem',
  {
    ticket: aTicket,
    proofs,
    proof,
    limit: maybe(fc.record({ redemptions: times }), 25),
    successor: maybe(
      fc.record({
        ttlSeconds: lifetime,
        chainSeconds: maybe(lifetime, 25),
        detail: maybe(fc.constant({ scope: 'refreshed' })),
        challenge,
        isDerived: maybe(fc.constant(true), 90),
        repeatableSeconds: maybe(lifetime, 70),
        repeatableAfterUseSeconds: maybe(lifetime, 25),
      }),
      85,
    ),
    onReplay: revoking,
    onMismatch: revoking,
  },
  ({ ticket, successor: asked, onReplay, onMismatch, ...request }, model) => {
    const { own, textIn } = chosen(ticket, model);
    const next = nextKinds[own];
    const { repeatableSeconds, repeatableAfterUseSeconds, ...successor } = asked ?? {};
    const isRepeatable = nextKinds[next] === next;
    const [redeemed, replayed, mismatched] = [anEvent(), anEvent(), anEvent()];
    const complete = withoutUndefined({
      ...request,
      repeatableSeconds: isRepeatable ? repeatableSeconds : undefined,
      repeatableAfterUseSeconds,
      successor: asked && { ttlSeconds: asked.ttlSeconds, ...withoutUndefined(successor), kind: next },
      onReplay: onReplay && { ...onReplay, events: [replayed] },
      onMismatch: onMismatch && { ...onMismatch, events: [mismatched] },
      events: [redeemed],
    });
    return { issues: next, act: (side) => side.tickets.redeem(own, textIn(side), complete) };
  },
);

const find = operations(
  'find',
  { ticket: aTicket, extendSeconds: maybe(lifetime) },
  ({ ticket, ...options }, model) => {
    const { own, textIn } = chosen(ticket, model);
    return { act: (side) => side.tickets.find(own, textIn(side), withoutUndefined(options)) };
  },
);

const findChain = operations('find chain', { ticket: aTicket }, ({ ticket }, model) => {
  const { own, textIn } = chosen(ticket, model);
  return { act: (side) => side.chains.findOf(own, textIn(side)) };
});

const use = operations(
  'use',
  { chain: index, proof, limit: fc.record({ uses: times, seconds: lifetime }) },
  ({ chain, ...use }, model) => {
    const { id } = model.plainChain(chain);
    const events = [anEvent(id)];
    return { act: ({ chains }) => chains.use(id, { ...use, events }) };
  },
);

const revoke = operations(
  'revoke',
  { chain: index, forSeconds: lifetime, owner: maybe(owner) },
  ({ chain, ...revocation }, model) => {
    const { id, claim } = model.chains.at(-1 - chain) ?? model.begin();
    const request = withoutUndefined({ ...revocation, claim, events: [anEvent(id)] });
    return { act: ({ chains }) => chains.revoke(id, request) };
  },
);

const readChain = operations('read chain', { chain: index }, ({ chain }, model) => {
  const { id } = model.plainChain(chain);
  return { act: async ({ chains }) => [await chains.isRevoked(id), await chains.findRecord(id)] };
});

const list = operations('list', { owner, labels }, (selection) => ({
  act: async ({ chains }) => (await chains.list(selection)).toSorted(),
}));

const useOnce = operations(
  'use once',
  { name: fc.constantFrom('x', 'y'), forSeconds: lifetime },
  ({ name, forSeconds }) => {
    const request = { forSeconds, events: [anEvent()] };
    return { act: ({ once }) => once.use(name, request) };
  },
);

const pass = operations('pass', { seconds: fc.constantFrom(10_000, 20_000, 50_000) }, ({ seconds }) => ({
  act: ({ pass }) => pass(seconds),
}));

const often = [issue, issue, issue, push, redeem, redeem, redeem, redeem, redeem, redeem];
const anyOperation = [...often, find, findChain, use, revoke, readChain, list, useOnce, pass];

const lab = createRedisLab();
afterAll(() => lab.stop());

it('tickets, chains and names have the same outcomes and events in Redis and in memory', async () => {
  const redis = await lab.anyClient();
  await fc.assert(
    fc.asyncProperty(fc.commands(anyOperation, { maxCommands: 40, size: 'max' }), async (commands) => {
      const sides = [inMemory(85_000), onRedis(redis, 85_000)].map((side) => ({ ...side, texts: [] }));
      await fc.asyncModelRun(() => ({ model: new Model(), real: sides }), commands);
      const sent = await Promise.all(sides.map(async ({ outbox }) => await outbox()));
      const [inOrder, inShards] = sent.map((events) =>
        events.map(({ id, correlationid }) => `${id} ${correlationid}`).toSorted(),
      );
      expect(inShards).toEqual(inOrder);
    }),
    { numRuns: runsOf(3000) },
  );
});
