/** Loaded before a process (`node --import`). Shifts its clock by a fixed number of milliseconds. */
const shift = Number(process.env['SHIFT_CLOCK_MILLISECONDS'])
const TrueDate = Date

class ShiftedDate extends TrueDate {
  constructor(...args: [] | [number | string | Date]) {
    if (args.length === 0) super(ShiftedDate.now())
    else super(...args)
  }

  static override now(): number {
    return TrueDate.now() + shift
  }
}

globalThis.Date = ShiftedDate as DateConstructor
