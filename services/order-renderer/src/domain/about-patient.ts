/**
 * Returns the member of an event that names the patient of an order: in a launch for a practice's list, this
 * is not the patient of the launch.
 * @param patient a pseudonym; absent if the submitted order named none
 */
export const aboutPatient = (patient: string | undefined): { readonly patient?: string } =>
  patient === undefined ? {} : { patient };
