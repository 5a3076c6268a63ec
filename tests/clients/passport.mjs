// Runs after the block of the guide, which registers the strategy with passport.
import express from 'express';
import session from 'express-session';

const app = express();
app.use(session({ secret: 'a secret', resave: false, saveUninitialized: false }));
app.use(passport.authenticate('session'));
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));
app.get('/launch', passport.authenticate('clinical-launch'));
app.get('/callback', passport.authenticate('clinical-launch', { successRedirect: '/' }));
app.get('/', (request, response) => response.json(request.user));
app.listen(process.env.PORT, () => console.log('ready'));
