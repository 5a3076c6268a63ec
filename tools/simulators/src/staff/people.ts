/** A member of staff at the demo's identity provider. */
export type Person = {
  readonly sub: string;
  readonly username: string;
  readonly name: string;
  readonly role: string;
  readonly rights: readonly string[];
};

/** The invented people who can sign in to the pages of the audit trail. */
export const people: readonly Person[] = [
  {
    sub: 'staff-1',
    username: 'r.adeyemi',
    name: 'Ruth Adeyemi',
    role: 'Support desk',
    rights: ['audit.read'],
  },
  {
    sub: 'staff-2',
    username: 'g.lindqvist',
    name: 'Gunnar Lindqvist',
    role: 'Privacy officer',
    rights: ['audit.read'],
  },
  { sub: 'staff-3', username: 'm.doyle', name: 'Maeve Doyle', role: 'Receptionist', rights: [] },
];

/** Returns the person of an account, or undefined for an unknown account. */
export const findPerson = (sub: string | null): Person | undefined =>
  people.find((person) => person.sub === sub);
