import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { Logger } from '../log.ts'

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void
}

/**
 * Logs when exports start to fail and when they succeed again, and keeps quiet in between. Callers see every export
 * succeed, so that none of them reports or retries a failure itself. `log` is read at each report.
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

/** What a collector answers is not repeated: only the status, or the code of the network error. */
function describe(error: Error | undefined): string {
  const code = error && 'code' in error ? error.code : undefined
  if (typeof code === 'number') return `HTTP ${code}`
  if (typeof code === 'string') return code
  return error?.message === 'Request timed out' ? 'timed out' : 'no usable answer'
}
