-- The launch that was opened or chosen last in each browser. Columns of type char(64) contain a SHA-256 in
-- hexadecimal. `who` contains the user, the practice and the patient of that launch.
-- squawk-ignore-file ban-char-field
create table ordering.browsers (
  key char(64) primary key,
  token uuid not null,
  subject_key char(64) not null,
  user_key char(64) not null,
  launch_id uuid not null,
  who jsonb not null,
  chosen_at timestamptz not null
);
create index browsers_chosen_at on ordering.browsers (chosen_at);
-- Finds the other browsers of a user.
create index browsers_user on ordering.browsers (user_key, chosen_at desc);

-- The launches whose first page was shown. If the page is reloaded or restored later, its window does not
-- become the chosen window.
create table ordering.opened_launches (
  launch_id uuid primary key,
  opened_at timestamptz not null
);
create index opened_launches_opened_at on ordering.opened_launches (opened_at);
