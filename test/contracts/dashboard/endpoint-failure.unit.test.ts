import { expect, test } from 'vitest'
import { deliveryFailures, readDeliveryFailure } from '../../../contracts/facts/deliveries.ts'
import { inEnglish, withFacts } from '../../../contracts/facts/fact.ts'
import { describeEndpointFailure, type EndpointFailure } from '../../../contracts/dashboard/endpoint-failure.ts'

const since = '2026-11-22T10:32:00.000Z'
const status = (statusCode: number) => ({ statusCode, error: `HTTP ${statusCode}` })

test.each([
  {
    failure: { error: 'connection refused' },
    says: 'Failing since 10:32: connection refused; start your application, and check the port in the URL.',
  },
  {
    failure: { error: 'timed out', durationMilliseconds: 15_002 },
    says: 'Failing since 10:32: timed out after 15 s; let your application answer before it processes the event.',
  },
  {
    failure: { error: 'timed out', durationMilliseconds: 120 },
    says: 'Failing since 10:32: timed out after 1 s; let your application answer before it processes the event.',
  },
  { failure: status(500), says: 'Failing since 10:32: HTTP 500; look for the error in the log of your application.' },
  { failure: status(503), says: 'Failing since 10:32: HTTP 503; check the proxy in front of your application.' },
  { failure: status(422), says: 'Failing since 10:32: HTTP 422; look for the error in the log of your application.' },
  { failure: status(401), says: 'Failing since 10:32: HTTP 401; check the signing secret.' },
  { failure: status(404), says: 'Failing since 10:32: HTTP 404; check the path of the URL.' },
  { failure: status(429), says: 'Failing since 10:32: HTTP 429; limit the deliveries per second.' },
  { failure: status(308), says: 'Failing since 10:32: HTTP 308; enter the URL that it redirects to.' },
  {
    failure: { error: 'the host could not be resolved, or is not public' },
    says: 'Failing since 10:32: the host could not be resolved, or is not public; check the host in the URL, which must have a public address.',
  },
  {
    failure: { error: 'TLS: the certificate has expired' },
    says: 'Failing since 10:32: TLS: the certificate has expired; renew the certificate.',
  },
  {
    failure: { error: 'TLS: no secure connection' },
    says: 'Failing since 10:32: TLS: no secure connection; check that the port of the URL serves HTTPS.',
  },
  {
    failure: { statusCode: 200, error: 'the connection closed before the response was complete' },
    says: 'Failing since 10:32: the connection closed before the response was complete; look for the error in the log of your application.',
  },
  { failure: { error: 'words of an earlier version' }, says: 'Failing since 10:32: words of an earlier version.' },
  {
    failure: { ...status(401), isMixed: true },
    says: 'Failing in several ways since 10:32. Last error: HTTP 401; check the signing secret.',
  },
] satisfies { failure: Partial<EndpointFailure> & Pick<EndpointFailure, 'error'>; says: string }[])(
  'says "$says"',
  ({ failure, says }) => {
    const whole = {
      since,
      durationMilliseconds: 12,
      isMixed: false,
      ...failure,
      ...withFacts({ error: readDeliveryFailure(failure.error) }),
    }

    expect(inEnglish(describeEndpointFailure(whole, (at) => at.slice(11, 16)))).toBe(says)
  },
)

test('says what to do first about every failure, except for the one whose text says it', () => {
  const withoutHint = Object.values(deliveryFailures).filter((failure) => {
    const error = failure()
    const whole = { since, error: inEnglish(error), durationMilliseconds: 12, isMixed: false, facts: { error } }
    return describeEndpointFailure(whole, String).params?.['hint'] === undefined
  })

  expect(withoutHint).toEqual([deliveryFailures.unusableRequest])
})
