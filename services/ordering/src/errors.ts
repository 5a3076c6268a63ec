import { ServiceError } from '@clinical-launch/http/errors';
import { isCancelled } from './domain/lifecycle.ts';
import type { TestRequest } from './domain/test-request.ts';

/**
 * Creates the error for a request without a live session of this launch. The session may be missing, have
 * ended, or belong to another launch.
 */
export const sessionEnded = () =>
  new ServiceError({
    code: 'session_ended',
    message: 'Your session has ended',
  });

/** Creates the error for a form that another site sent. */
export const foreignForm = () =>
  new ServiceError({
    code: 'foreign_form',
    message: 'This form was sent from another website. Nothing has been changed',
  });

/** Creates the error for a form of another launch, which may be for another patient. */
export const formOfAnotherLaunch = () =>
  new ServiceError({
    code: 'form_of_another_launch',
    message: 'This form belongs to another patient’s window. Nothing has been changed',
  });

/** Creates the error for a step that the launch's action does not allow (OLTR: Action definitions). */
export const notOfThisAction = () =>
  new ServiceError({
    code: 'not_of_this_action',
    message: 'You cannot do this here. Nothing has been changed',
  });

/** Creates the error for a user who may not change the practice's favourites or order sets. */
export const notPracticeEditor = () =>
  new ServiceError({
    code: 'not_practice_editor',
    message: 'You cannot change the favourites and order sets of the practice. Nothing has been changed',
  });

/** Creates the error for a launch that orders tests of a laboratory without a catalogue. */
export const noCatalogueOfLaboratory = () =>
  new ServiceError({
    code: 'no_catalogue',
    message: 'You cannot request tests from this laboratory here',
  });

export const pageNotFound = () => new ServiceError({ code: 'not_found', message: 'Page not found' });

/**
 * Creates the error for a request that does not exist or that this launch may not see. The response is the
 * same in both cases, so that it does not reveal whether the request exists.
 */
export const requestNotFound = () =>
  new ServiceError({
    code: 'request_not_found',
    message: 'Request not found',
  });

/** Creates the error for a change of a Complete request, which is immutable (OLTR: Request status). */
export const requestComplete = (request: Pick<TestRequest, 'batches'>) =>
  new ServiceError({
    code: 'request_complete',
    message: isCancelled(request)
      ? 'This request has been cancelled, so you cannot change it'
      : 'This request has been submitted to the laboratory, so you cannot change it. If it is wrong, telephone the laboratory',
  });

/**
 * Creates the error for a prefetch, a prerender or a preview. A browser could show the response later without
 * an audit event.
 */
export const speculativeReading = () =>
  new ServiceError({
    code: 'speculative_request',
    message: 'This page cannot be loaded in advance',
  });

/** Creates the error for a form that no page of the application sends. */
export const faultyForm = () =>
  new ServiceError({ code: 'faulty_form', message: 'The form could not be read' });
