export {
  type AccessTokenVerifier,
  assertRight,
  type Caller,
  createAccessTokenVerifier,
} from './access-tokens.ts';
export type { Attempts } from './attempts.ts';
export {
  type ClientCertificate,
  clientCertificateOf,
  readClientCertificateHeader,
} from './client-certificate.ts';
export { type CsvRow, parseCsv } from './csv.ts';
export { type Directories, openDirectories, readDirectories, readDirectoryFile } from './directory-file.ts';
export { type DpopProof, verifyDpopProof } from './dpop-proof.ts';
export { createFollowingVerifier, openTokenVerifier, watchRegistry } from './following-registry.ts';
export { invalidToken } from './invalid-token.ts';
export { desktopIssuerPolicies, type IssuerPolicy, issuerPolicies } from './issuer-policies.ts';
export { assertProductionRegistry, productionRegistryProblems } from './production-registry.ts';
export { invalidProof } from './proof-of-possession.ts';
export {
  fixedRegistry,
  followRegistry,
  type RegistrySource,
  readRegistryFile,
  type WatchedRegistry,
  watchRegistryFile,
} from './registry-file.ts';
export type { Revocations } from './revocations.ts';
export { audienceSetting, checkRegistryFile, readTrust } from './trust.ts';
