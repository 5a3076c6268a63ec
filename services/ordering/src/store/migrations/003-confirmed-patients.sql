-- The dates of birth with which a user confirmed that a request is for the patient of a launch: the practice
-- had corrected the date after the request was made.
create table ordering.confirmed_patients (
  request_guid uuid not null references ordering.test_requests (guid),
  birth_date text not null,
  launch_id uuid not null,
  author jsonb not null,
  confirmed_at timestamptz not null,
  primary key (request_guid, birth_date)
);
