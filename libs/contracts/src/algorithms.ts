/**
 * Accepted signature algorithms. Asymmetric only: if one were symmetric, a public key could serve as the
 * secret.
 */
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
