import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Converts stored requests to one spelling: national identifiers without separators and in capitals, ODS
 * codes compared in capitals. Before, each spelling of a number was a separate patient, and each spelling of
 * a code a separate practice. The SQL is frozen: it does not follow later changes of the contracts.
 */
export const spellPatientsOnce: Migration = {
  async up(db) {
    await sql`create function ordering.has_check_digit(bare text) returns boolean language sql immutable as $$
      select case when bare ~ '^[0-9]{10}$' then
        (11 - (select sum(substr(bare, place, 1)::integer * (11 - place)) from generate_series(1, 9) place) % 11) % 11
          = substr(bare, 10, 1)::integer
      else false end
    $$`.execute(db);
    // The hashed text is the output of JSON.stringify for a list of strings.
    await sql`create function ordering.key_of(variadic parts text[]) returns text language sql immutable as $$
      select encode(sha256(convert_to(
        '[' || (select string_agg(to_json(part)::text, ',' order by place)
          from unnest(parts) with ordinality as listed(part, place)) || ']',
        'UTF8')), 'hex')
    $$`.execute(db);
    await mendPatients.execute(db);
    await mendPractices(db);
    await sql`drop function ordering.key_of(text[])`.execute(db);
    await sql`drop function ordering.has_check_digit(text)`.execute(db);
  },
};

const mendPatients = sql`
  with identifiers as (
    select guid, issuer, client_id, practice_system, place, identifier ->> 'system' as system,
      identifier ->> 'value' as value,
      case when practice_system = 'ods-organization-code' then upper(practice_code collate "C") else practice_code end as code,
      upper(regexp_replace(identifier ->> 'value',
        '[\\s\\u00a0\\u00ad\\u1680\\u2000-\\u200d\\u2010-\\u2015\\u2028\\u2029\\u202f\\u205f\\u2060\\u2212\\u3000\\ufeff-]',
        '', 'g') collate "C") as bare
    from ordering.test_requests,
      jsonb_array_elements(parties -> 'patient' -> 'identifiers') with ordinality as listed(identifier, place)
  ),
  judged as (
    select *, case system
        when 'hospital-number' then true
        when 'nhs-number' then ordering.has_check_digit(bare)
        when 'chi-number' then ordering.has_check_digit(bare)
          and bare ~ '^(0[1-9]|[12][0-9]|3[01])(0[1-9]|1[0-2])'
        else bare ~ '^[A-Z0-9]{4,20}$' and bare ~ '[0-9]'
      end as is_given
    from identifiers
  ),
  spelt as (
    select guid,
      jsonb_agg(case
        when system = 'hospital-number' then jsonb_build_object('system', system, 'value', value)
        when is_given then jsonb_build_object('system', system, 'value', bare)
        else jsonb_build_object('system', system, 'value', value, 'isDoubtful', true)
      end order by place) as identifiers,
      coalesce(array_agg(case
        when system = 'hospital-number'
          then ordering.key_of(issuer, client_id, practice_system, code, system, value)
        else ordering.key_of(system, bare)
      end order by place) filter (where is_given), '{}') as keys
    from judged group by guid
  )
  update ordering.test_requests request
  set parties = jsonb_set(parties, '{patient,identifiers}', spelt.identifiers), patient_keys = spelt.keys
  from spelt
  where spelt.guid = request.guid
    and (parties -> 'patient' -> 'identifiers' <> spelt.identifiers or patient_keys <> spelt.keys)`;

async function mendPractices(db: Parameters<Migration['up']>[0]): Promise<void> {
  await sql`create table ordering.spelt_practices as
    select distinct practice_code, practice_key as old_key,
      ordering.key_of('ods-organization-code', upper(practice_code collate "C")) as new_key
    from ordering.test_requests
    where practice_system = 'ods-organization-code' and practice_code <> upper(practice_code collate "C")`.execute(
    db,
  );
  await sql`insert into ordering.favourites (practice_key, code, added_by, added_at)
    select new_key, code, added_by, added_at
    from ordering.favourites join ordering.spelt_practices on practice_key = old_key
    on conflict do nothing`.execute(db);
  await sql`delete from ordering.favourites
    where practice_key in (select old_key from ordering.spelt_practices)`.execute(db);
  // Two sets of one name now belong to one practice: the name states the code of the second.
  await sql`update ordering.practice_sets moved
    set practice_key = new_key, name = case when exists (
        select from ordering.practice_sets other
          left join ordering.spelt_practices of_other on of_other.old_key = other.practice_key
        where other.id <> moved.id and other.name = moved.name
          and coalesce(of_other.new_key, other.practice_key) = spelt.new_key
      ) then name || ' (' || practice_code || ')' else name end
    from ordering.spelt_practices spelt where practice_key = old_key`.execute(db);
  // A lexeme of a practice's list begins with eight characters of the key and a colon.
  await sql`update ordering.test_requests request
    set practice_key = new_key,
      words = array_to_tsvector(array(
        select case
          when starts_with(lexeme, left(old_key, 8) || ':') then left(new_key, 8) || substr(lexeme, 9)
          else lexeme
        end
        from unnest(tsvector_to_array(words)) lexeme))
    from ordering.spelt_practices practice
    where request.practice_key = old_key`.execute(db);
  await sql`drop table ordering.spelt_practices`.execute(db);
}
