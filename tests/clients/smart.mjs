import { MedplumClient } from '@medplum/core';
import express from 'express';
import session from 'express-session';
import smart from 'fhirclient';

const scope = 'openid fhirUser launch launch/patient patient/*.rs';
const app = express();
app.use(session({ secret: 'a secret', resave: false, saveUninitialized: false }));
app.get('/launch', (request, response) =>
  smart(request, response).authorize({ clientId: 'my-partner', scope, redirectUri: '/callback' }),
);
app.get('/callback', async (request, response) => {
  const client = await smart(request, response).ready();
  const { id } = client.patient;
  const { serverUrl, tokenResponse } = client.state;
  const medplum = new MedplumClient({ baseUrl: `${serverUrl}/`, fhirUrlPath: '' });
  medplum.setAccessToken(tokenResponse.access_token);
  const patients = {
    'fhirclient, by id': await client.patient.read(),
    'fhirclient, by search': (await client.request(`Patient?_id=${id}`)).entry[0].resource,
    'Medplum, by id': await medplum.readResource('Patient', id),
    'Medplum, by search': await medplum.searchOne('Patient', { _id: id }),
  };
  const names = Object.entries(patients).map(([how, patient]) => [how, patient.name[0].family]);
  response.json(Object.fromEntries(names));
});
app.listen(process.env.PORT, () => console.log('ready'));
