/** Accepted signatures. Asymmetric only: with a symmetric one among them, a public key could be used as the secret. */
export const asymmetricAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  // RFC 9864: the name of EdDSA with this curve.
  'Ed25519',
];
