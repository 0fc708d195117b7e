import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { Logger } from '../log.ts'

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void
}

/**
 * Logs when exports start to fail and when they succeed again, and nothing in between. Every export is reported to the
 * SDK as successful, so that it neither logs nor retries a failure. `log` is called each time, because it is set later.
 */
export function reportFailures<Items>(exporter: Exporter<Items>, signal: string, log: () => Logger | undefined): void {
  let isFailing = false
  const send = exporter.export.bind(exporter)
  exporter.export = (items, done) =>
    send(items, ({ code, error }) => {
      const hasFailed = code !== ExportResultCode.SUCCESS
      if (hasFailed && !isFailing)
        log()?.warn(
          { signal, reason: describe(error) },
          'could not export telemetry; it is dropped until the collector accepts it. Further failures are not logged',
        )
      if (!hasFailed && isFailing) log()?.info({ signal }, 'telemetry is exported again')
      isFailing = hasFailed
      done({ code: ExportResultCode.SUCCESS })
    })
}

/** Returns the status or the code of the network error, never the response of the collector. */
function describe(error: Error | undefined): string {
  const code = error && 'code' in error ? error.code : undefined
  if (typeof code === 'number') return `HTTP ${code}`
  if (typeof code === 'string') return code
  return error?.message === 'Request timed out' ? 'timed out' : 'no usable response'
}
