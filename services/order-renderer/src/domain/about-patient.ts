/**
 * Returns the `patient` member of an event about an order. The patient of the order can differ from the
 * patient of the launch, if the launch shows a practice's list.
 * @param patient a pseudonym, or undefined if the submitted order contained no pseudonym
 */
export const aboutPatient = (patient: string | undefined): { readonly patient?: string } =>
  patient === undefined ? {} : { patient };
