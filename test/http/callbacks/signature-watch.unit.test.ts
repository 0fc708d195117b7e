import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { type SignatureWatch, watchSignatures } from '../../../src/http/callbacks/watch.ts'

let logged: { level: number; msg: string; rejected?: number; whatsAppAccountId?: string }[]
let watch: SignatureWatch
let time: number

beforeEach(() => {
  logged = []
  time = 0
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) })
  watch = watchSignatures(log, () => time)
})

const minutes = 60_000

test('logs rejected callbacks at most every ten minutes, and the first accepted one', () => {
  for (let n = 0; n < 5; n++) watch.rejected(undefined)
  time += 11 * minutes
  watch.rejected(undefined)
  watch.accepted(undefined)
  watch.accepted(undefined)

  expect(logged.map(({ level, rejected }) => [level, rejected])).toEqual([
    [40, 1],
    [40, 5],
    [30, undefined],
  ])
})

test('logs rejected callbacks of one account while those of another are accepted', () => {
  watch.rejected('wa_bad')
  watch.accepted('wa_good')
  watch.accepted(undefined)

  expect(logged).toMatchObject([{ level: 40, whatsAppAccountId: 'wa_bad' }])

  watch.accepted('wa_bad')
  expect(logged).toMatchObject([{ level: 40 }, { level: 30, whatsAppAccountId: 'wa_bad' }])
})

test('remembers a limited number of paths, since any client can make them up', () => {
  for (let n = 0; n < 5_000; n++) watch.rejected(`wa_${n}`)
  watch.accepted('wa_0')

  expect(logged.filter(({ level }) => level === 30)).toEqual([])
})
