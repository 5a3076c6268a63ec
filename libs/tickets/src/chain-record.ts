import type { IssueRequest } from './tickets.ts';

/** @throws TypeError for the record of a chain that has no end or that begins with a claim */
export function assertRecordable({ chainRecord, chainSeconds, claim }: IssueRequest): void {
  if (chainRecord === undefined) return;
  if (chainSeconds === undefined || claim !== undefined)
    throw new TypeError('The record of a chain needs an end of the chain, and no claim');
}
