import { expect, test } from 'vitest'
import { describeEndpointFailure, type EndpointFailure } from '../../contracts/dashboard/endpoint-failure.ts'

const since = '2026-11-22T10:32:00.000Z'
const status = (statusCode: number) => ({ statusCode, error: `HTTP ${statusCode}` })

test.each([
  { failure: { error: 'connection refused' }, says: 'Connection refused since 10:32.' },
  { failure: { error: 'timed out', durationMilliseconds: 15_002 }, says: 'Times out after 15 s since 10:32.' },
  { failure: { error: 'timed out', durationMilliseconds: 120 }, says: 'Times out after 1 s since 10:32.' },
  { failure: status(500), says: 'Answers 500 since 10:32.' },
  { failure: status(401), says: 'Answers 401 since 10:32; check the signing secret.' },
  { failure: status(404), says: 'Answers 404 since 10:32; check the path of the URL.' },
  { failure: status(429), says: 'Answers 429 since 10:32; limit the deliveries per second.' },
  { failure: status(308), says: 'Redirects with 308 since 10:32; enter the URL that it redirects to.' },
  {
    failure: { error: 'the host could not be resolved, or is not public' },
    says: 'Host not found, or not public, since 10:32.',
  },
  {
    failure: { error: 'TLS: the certificate has expired' },
    says: 'TLS certificate expired, failing since 10:32; renew it.',
  },
  {
    failure: { statusCode: 200, error: 'the connection closed before the response was complete' },
    says: 'Closes the connection before its answer is complete since 10:32.',
  },
  {
    failure: { error: 'the signing secret of the endpoint cannot be decrypted' },
    says: 'Every attempt fails (the signing secret of the endpoint cannot be decrypted) since 10:32.',
  },
  {
    failure: { error: 'connection refused', isMixed: true },
    says: 'Failing in several ways since 10:32; last: connection refused.',
  },
  { failure: { ...status(401), isMixed: true }, says: 'Failing in several ways since 10:32; last: answers 401.' },
] satisfies { failure: Partial<EndpointFailure> & Pick<EndpointFailure, 'error'>; says: string }[])(
  'says "$says"',
  ({ failure, says }) => {
    const whole = { since, durationMilliseconds: 12, isMixed: false, ...failure }

    expect(describeEndpointFailure(whole, (at) => at.slice(11, 16))).toBe(says)
  },
)
