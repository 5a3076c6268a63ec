-- The schema of release 1: drafts, requests with their submissions and prints, and favourites and order sets.
-- Columns of type integer are versions, which never need more than 32 bits. Columns of type char(64) contain
-- a SHA-256 in hexadecimal.
-- squawk-ignore-file prefer-bigint-over-int, ban-char-field

-- Contains each event until the relay has published it (libs/storage/src/sql-outbox.ts).
create table ordering.outbox (
  id bigint generated always as identity primary key,
  event jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  rejected_at timestamptz
);

create table ordering.drafts (
  launch_id uuid not null,
  target uuid not null,
  submission_id uuid not null unique,
  owner_key char(64),
  version integer not null,
  content jsonb not null,
  updated_at timestamptz not null,
  primary key (launch_id, target)
);
create index drafts_updated_at on ordering.drafts (updated_at);
-- Finds the drafts of a user's new orders, which the user's next launch for the same patient offers.
create index drafts_owner on ordering.drafts (owner_key, updated_at desc) where owner_key is not null;

create sequence ordering.batch_numbers;

create table ordering.test_requests (
  guid uuid primary key,
  launch_id uuid not null unique,
  issuer text not null,
  client_id text not null,
  originating_id text not null,
  originating_key char(64) not null,
  practice_system text not null,
  practice_code text not null,
  practice_key char(64) not null,
  patient_keys text[] not null,
  status text not null check (status in ('Incomplete', 'Complete')),
  priority text not null check (priority in ('routine', 'urgent')),
  version integer not null,
  parties jsonb not null,
  clinical_details text not null,
  answers jsonb not null,
  batches jsonb not null,
  words tsvector not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
-- A list is the union of runs. A run contains the requests of one status and one priority. These indexes sort
-- the runs.
create index test_requests_practice
  on ordering.test_requests (practice_key, status, priority, created_at desc, guid desc);
-- A patient has at most two identifiers (OLTR: Patient.identifier).
create index test_requests_patient_1
  on ordering.test_requests ((patient_keys[1]), status, priority, created_at desc, guid desc);
create index test_requests_patient_2
  on ordering.test_requests ((patient_keys[2]), status, priority, created_at desc, guid desc);
create index test_requests_patient on ordering.test_requests using gin (patient_keys);
create index test_requests_requester
  on ordering.test_requests (practice_key, (parties -> 'requester' -> 'identifier'), created_at desc);
-- Finds the request with the originating id of a launch.
create index test_requests_originating on ordering.test_requests (originating_key);
-- Disables the GIN pending list, which every search would have to scan.
create index test_requests_words on ordering.test_requests using gin (words) with (fastupdate = off);

-- The launch that submitted each version of a request.
create table ordering.submissions (
  id uuid primary key,
  request_guid uuid not null references ordering.test_requests (guid),
  request_version integer not null,
  launch_id uuid not null,
  action text not null,
  author jsonb not null,
  submitted_at timestamptz not null,
  unique (request_guid, request_version)
);
create index submissions_launch on ordering.submissions (launch_id);

-- The prints of the form and the labels of each request.
create table ordering.prints (
  id bigint generated always as identity primary key,
  request_guid uuid not null references ordering.test_requests (guid),
  what text not null check (what in ('form', 'labels')),
  launch_id uuid not null,
  author jsonb not null,
  printed_at timestamptz not null
);
create index prints_request on ordering.prints (request_guid, what, id desc);

create table ordering.list_searches (
  launch_id uuid primary key,
  search text not null,
  priority text check (priority in ('routine', 'urgent')),
  filters jsonb not null,
  updated_at timestamptz not null
);
create index list_searches_updated_at on ordering.list_searches (updated_at);

create table ordering.favourites (
  practice_key char(64) not null,
  code text not null,
  added_by jsonb not null,
  added_at timestamptz not null,
  primary key (practice_key, code)
);

create table ordering.practice_sets (
  id uuid primary key,
  practice_key char(64) not null,
  name text not null,
  tests text[] not null,
  added_by jsonb not null,
  added_at timestamptz not null
);
create unique index practice_sets_name on ordering.practice_sets (practice_key, name);

create table ordering.personal_favourites (
  user_key char(64) not null,
  code text not null,
  added_at timestamptz not null,
  primary key (user_key, code)
);

-- The codes of the tests that a practice requests most, most requested first.
create table ordering.most_requested (
  practice_key char(64) primary key,
  codes text[] not null,
  counted_at timestamptz not null
);
