import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'

export type Logger = PinoLogger
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/**
 * One JSON line per entry, on standard error: standard output belongs to what a command answers.
 * Logged errors carry type, code and stack. The message of a database error is left out, since it can
 * quote a caller's values; in others numbers and wamids are masked.
 */
export function createLogger(level: LogLevel, destination: DestinationStream = pino.destination(2)): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    destination,
  )
}

/** `34600111222` becomes `34*******22`: enough to recognise a number one knows, too little to call it. */
export function maskNumber(digits: string): string {
  return digits.length <= 4
    ? '*'.repeat(digits.length)
    : digits.slice(0, 2) + '*'.repeat(digits.length - 4) + digits.slice(-2)
}

/** Numbers and wamids (which hold the number) inside a text that others wrote. */
export function maskPersonalData(text: string): string {
  return text
    .replace(/wamid\.[\w+/=-]+/g, 'wamid.***')
    .replace(/\+?\d{7,15}/g, (number) => maskNumber(number.replace('+', '')))
}

/** PostgreSQL's error codes. */
const sqlState = /^[0-9A-Z]{5}$/

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
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
