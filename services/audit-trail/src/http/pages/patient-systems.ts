import type { PatientIdentifierSystem } from '@clinical-launch/contracts/coded-identifiers';

export const patientSystems: readonly { readonly value: PatientIdentifierSystem; readonly text: string }[] = [
  { value: 'nhs-number', text: 'NHS number' },
  { value: 'chi-number', text: 'CHI number' },
  { value: 'gha-number', text: 'GHA number' },
  { value: 'ssn-number', text: 'Social security number' },
  { value: 'hospital-number', text: 'Hospital number' },
];
