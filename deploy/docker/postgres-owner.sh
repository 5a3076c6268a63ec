# shellcheck shell=bash
# The PostgreSQL image runs this script once, when it creates the database. The script creates the owner of
# the database, who is not a superuser. `./clinical-launch migrate` signs in as the owner to create the schemas
# and roles of the services.
owner=$(sed -n 's#^postgres://\([^:]*\):.*#\1#p' /run/secrets/database-url)
password=$(sed -n 's#^postgres://[^:]*:\([^@]*\)@.*#\1#p' /run/secrets/database-url)
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" \
  -v owner="$owner" -v password="$password" -v database="$POSTGRES_DB" <<'SQL'
create role :"owner" login createrole password :'password';
alter database :"database" owner to :"owner";
SQL
