-- The reason for a cancellation; null for every other submission.
alter table ordering.submissions add column reason text;
