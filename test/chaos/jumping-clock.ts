/**
 * Loaded before a process (`node --import`). Shifts its clock by the milliseconds in a file that may change at any
 * time.
 */
import { readFileSync } from 'node:fs'

const file = process.env['CHAOS_CLOCK_FILE'] ?? ''
const TrueDate = Date
let shift = readShift()
setInterval(() => (shift = readShift()), 100).unref()

class JumpingDate extends TrueDate {
  constructor(...args: [] | [number | string | Date]) {
    if (args.length === 0) super(JumpingDate.now())
    else super(...args)
  }

  static override now(): number {
    return TrueDate.now() + shift
  }
}

globalThis.Date = JumpingDate as DateConstructor

function readShift(): number {
  try {
    return Number(readFileSync(file, 'utf8')) || 0
  } catch {
    return 0
  }
}
