import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'
import { codeOf } from './error-code.ts'

export type Logger = PinoLogger
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/**
 * Creates a logger that writes one JSON line per entry to standard error, since standard output is for the results of
 * commands. Logged errors have a type, code and stack. The message of a database error is omitted, because it can quote
 * user data. In other messages, phone numbers and wamids are masked.
 */
export function createLogger(
  level: LogLevel,
  destination: DestinationStream = openStandardError(),
  /** Adds fields to each line. */
  addFields?: () => object,
): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      ...(addFields && { mixin: addFields }),
    },
    destination,
  )
}

/** Lines that wait while they cannot be written, such as to a full disk. Later ones are dropped. */
const maxWaitingBytes = 1024 * 1024
/** How long a reader may stop reading a pipe until it counts as a failure. */
const maxStuckMilliseconds = 1_000

/**
 * A log that cannot be written must not end the process, as an error without a listener does. The next line is written
 * after those that wait. At the exit, nothing waits for the disk or the reader of a pipe: pino would try again forever.
 */
function openStandardError(): DestinationStream {
  // Makes a pipe non-blocking. Otherwise its reader could block a thread, without which the process cannot end.
  void process.stderr
  let isFailing = false
  let stuckSince: number | undefined
  const stream = pino.destination({
    dest: 2,
    sync: false,
    maxLength: maxWaitingBytes,
    retryEAGAIN: () => performance.now() - (stuckSince ??= performance.now()) < maxStuckMilliseconds,
  })
  stream
    .on('error', () => (isFailing = true))
    .on('write', () => {
      isFailing = false
      stuckSince = undefined
    })
  const flushSync = stream.flushSync.bind(stream)
  stream.flushSync = () => {
    if (isFailing) return
    try {
      flushSync()
    } catch {
      isFailing = true
    }
  }
  return stream
}

/** Masks `34600111222` as `34*******22`: enough to recognize a known number, too little to call it. */
export function maskNumber(digits: string): string {
  return digits.length <= 4
    ? '*'.repeat(digits.length)
    : digits.slice(0, 2) + '*'.repeat(digits.length - 4) + digits.slice(-2)
}

/** Masks phone numbers, and wamids (which contain a number), in text from other systems. */
export function maskPersonalData(text: string): string {
  return text
    .replace(/wamid\.[\w+/=-]+/g, 'wamid.***')
    .replace(/\+?\d{7,15}/g, (number) => maskNumber(number.replace('+', '')))
}

/** PostgreSQL's error codes. */
const sqlState = /^[0-9A-Z]{5}$/

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const code = codeOf(error)
  return {
    type: error.name,
    code,
    message: code !== undefined && sqlState.test(code) ? undefined : maskPersonalData(error.message),
    stack: error.stack === undefined ? undefined : framesOf(error.stack),
    cause: error.cause === undefined ? undefined : describeError(error.cause),
  }
}

function framesOf(stack: string): string[] {
  return stack
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
}
