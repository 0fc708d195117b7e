import { expect, test } from 'vitest'
import { inEnglish } from '../../contracts/facts/fact.ts'
import { failures } from '../../contracts/facts/failures.ts'
import { classifyError, type ErrorClass, errorCodes } from '../../src/whatsapp/error-codes.ts'
import { adviseOnFailure, explainFailure } from '../../src/whatsapp/failure-advice.ts'

const unusable = { errorCode: 'NO_ACTIVE_ACCOUNT', accountUnusable: true } as const
const notReady = { errorCode: 'NO_ACTIVE_ACCOUNT' } as const
const rejected = { errorCode: 'MESSAGE_REJECTED' } as const
const outdated = { errorCode: 'MESSAGE_REJECTED', template: 'resync' } as const
const throttled = (retryAfterSeconds: number) => ({ errorCode: 'WHATSAPP_THROTTLED', retryAfterSeconds }) as const
const unavailable = (retryAfterSeconds: number) => ({ errorCode: 'WHATSAPP_UNAVAILABLE', retryAfterSeconds }) as const

/** Error code, HTTP status (reference, section 2.2) and resulting errorClass. */
const table = [
  [0, 401, unusable],
  [1, 400, unavailable(5)],
  [2, 503, { ...unavailable(5), retryImmediately: true }],
  [3, 500, unusable],
  [4, 400, throttled(300)],
  [10, 403, unusable],
  [17, 400, throttled(300)],
  [32, 400, throttled(300)],
  [33, 400, notReady],
  [100, 400, rejected],
  [102, 401, unusable],
  [104, 401, unusable],
  [190, 401, unusable],
  [200, 403, unusable],
  [341, 400, throttled(300)],
  [368, 403, unusable],
  [429, 429, throttled(60)],
  [613, 429, throttled(60)],
  [803, 404, notReady],
  [80007, 400, throttled(300)],
  [80008, 400, throttled(300)],
  [130403, 400, rejected],
  [130429, 400, throttled(2)],
  [130472, 400, rejected],
  [130497, 403, rejected],
  [131000, 500, unavailable(5)],
  [131005, 403, unusable],
  [131008, 400, outdated],
  [131009, 400, rejected],
  [131016, 500, { ...unavailable(10), retryImmediately: true }],
  [131021, 400, rejected],
  [131026, 400, rejected],
  [131030, 400, rejected],
  [131031, 403, unusable],
  [131037, 400, notReady],
  [131042, 400, notReady],
  [131045, 500, notReady],
  [131047, 400, rejected],
  [131048, 400, throttled(3600)],
  [131049, 400, rejected],
  [131050, 400, rejected],
  [131051, 400, rejected],
  [131052, 400, rejected],
  [131053, 400, rejected],
  [131055, 400, outdated],
  [131056, 400, throttled(6)],
  [131057, 500, unavailable(60)],
  [131061, 400, rejected],
  [131062, 400, rejected],
  [131063, 400, rejected],
  [131064, 400, throttled(3600)],
  [131065, 400, rejected],
  [132000, 400, outdated],
  [132001, 404, { errorCode: 'TEMPLATE_NOT_FOUND', template: 'resync' }],
  [132005, 400, rejected],
  [132007, 400, rejected],
  [132012, 400, outdated],
  [132015, 400, { errorCode: 'TEMPLATE_NOT_FOUND', template: 'PAUSED' }],
  [132016, 400, { errorCode: 'TEMPLATE_NOT_FOUND', template: 'DISABLED' }],
  [132018, 400, outdated],
  [132068, 400, rejected],
  [132069, 400, throttled(3600)],
  [133004, 503, { ...unavailable(10), retryImmediately: true }],
  [133010, 400, notReady],
  [134011, 400, rejected],
  [134100, 400, outdated],
  [134101, 400, unavailable(600)],
  [134102, 500, { ...unavailable(60), checkAccount: true }],
  [135000, 400, rejected],
  [137000, 400, rejected],
  [2494100, 400, unavailable(300)],
] as const

test.each(table)('classifies code %i with HTTP %i as %j', (code, status, rule) => {
  expect(classifyError({ code }, status)).toEqual({ kind: 'refused', ...rule })
})

test('covers every classified code', () => {
  expect(table.map(([code]) => code).toSorted((a, b) => a - b)).toEqual(Object.keys(errorCodes).map(Number))
})

test.each(table)('classifies code %i the same with any other HTTP status', (code) => {
  const verdicts = [400, 401, 403, 404, 500, 503].map((status) => classifyError({ code }, status))
  expect(new Set(verdicts.map((errorClass) => JSON.stringify(errorClass))).size).toBe(1)
})

test.each<{ says: string; error: Parameters<typeof classifyError>[0]; status: number; errorClass: ErrorClass }>([
  {
    says: 'classifies every code of the permission range as a missing permission',
    error: { code: 294 },
    status: 403,
    errorClass: { kind: 'refused', ...unusable },
  },
  {
    says: 'classifies code 100 with subcode 33 as an invalid phone number id',
    error: { code: 100, error_subcode: 33 },
    status: 400,
    errorClass: { kind: 'refused', ...notReady },
  },
  {
    says: "classifies Graph's rate limits of other use cases as throttled",
    error: { code: 80_014 },
    status: 400,
    errorClass: { kind: 'refused', ...throttled(300) },
  },
  {
    says: 'classifies an unknown code with 401 as a rejected token',
    error: { code: 7 },
    status: 401,
    errorClass: { kind: 'refused', ...unusable },
  },
  {
    says: 'keeps the account usable for an unknown code with 403',
    error: { code: 7 },
    status: 403,
    errorClass: { kind: 'refused', ...notReady },
  },
  {
    says: 'classifies an unknown code with 400 as a rejection',
    error: { code: 7 },
    status: 400,
    errorClass: { kind: 'refused', ...rejected },
  },
  {
    says: 'retries an unknown code with 400 that is marked as transient',
    error: { code: 7, is_transient: true },
    status: 400,
    errorClass: { kind: 'refused', ...unavailable(5) },
  },
  {
    says: 'treats the outcome of an unknown code with 500 as unknown',
    error: { code: 7 },
    status: 500,
    errorClass: { kind: 'unknown' },
  },
])('$says', ({ error, status, errorClass }) => {
  expect(classifyError(error, status)).toEqual(errorClass)
})

const unknownNumber =
  "Unsupported post request. Object with ID '506' does not exist, cannot be loaded due to missing permissions, or does not support this operation"

test.each([
  { code: '200', message: '', failure: failures.permissionMissing },
  { code: '201', message: '', failure: failures.permissionMissing },
  { code: '299', message: '', failure: failures.permissionMissing },
  { code: '80000', message: '', failure: failures.tooFast },
  { code: '80014', message: '', failure: failures.tooFast },
  { code: '100', message: 'Invalid parameter', failure: failures.invalidParameter },
  { code: '100', message: unknownNumber, failure: failures.numberUnknown },
  { code: '131053', message: 'http code 403', failure: failures.linkRejected },
  { code: '131009', message: unknownNumber, failure: failures.invalidParameter },
])('explains code $code with the message "$message"', ({ code, message, failure }) => {
  expect(adviseOnFailure({ code, message })).toMatchObject({
    meaning: inEnglish(failure.meaning()),
    advice: inEnglish(failure.advice()),
  })
})

test.each(['', '300', '79999', '80015', 'UNKNOWN'])('has no explanation of code "%s"', (code) => {
  expect(explainFailure(code, 'Something happened')).toBe('Something happened.')
})
