# Run once by the image of PostgreSQL, while the database is made: creates the owner of the database, who is no superuser
# and makes the schemas and the roles of the services (`npm run ops -- migrate`).
owner=$(sed -n 's#^postgres://\([^:]*\):.*#\1#p' /run/secrets/database-url)
password=$(sed -n 's#^postgres://[^:]*:\([^@]*\)@.*#\1#p' /run/secrets/database-url)
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" \
  -v owner="$owner" -v password="$password" -v database="$POSTGRES_DB" <<'SQL'
create role :"owner" login createrole password :'password';
alter database :"database" owner to :"owner";
SQL
