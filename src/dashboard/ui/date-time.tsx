import { useEffect, useState } from 'react'
import { describeExactly, describeMinute, describeRelatively, describeTime, isLongFrom } from './time.ts'

const refreshMilliseconds = 30_000

/** Relative time, with the exact time in the title. */
export function DateTime({ at }: { at: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), refreshMilliseconds)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={at} title={describeExactly(at)} style={{ whiteSpace: 'nowrap' }}>
      {describeRelatively(at, Math.max(now, Date.now()))}
    </time>
  )
}

/** Absolute time with seconds, for logs. */
export function LogTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={describeExactly(at)} style={{ whiteSpace: 'nowrap' }}>
      {describeTime(at)}
    </time>
  )
}

/** Absolute time without seconds, for what is counted by the minute. */
export function MinuteTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={describeExactly(at)} style={{ whiteSpace: 'nowrap' }}>
      {describeMinute(at)}
    </time>
  )
}

/** Absolute time with seconds, and its age within the last day; older ages would repeat the date. */
export function LogTimeWithAge({ at }: { at: string }) {
  return (
    <>
      <LogTime at={at} />
      {!isLongFrom(Date.now(), at) && (
        <>
          {' · '}
          <DateTime at={at} />
        </>
      )}
    </>
  )
}
