import fs from 'node:fs'

/** Loaded before a server: writes one byte to `FLUSHES_FILE` for each flush that has ended. */
const file = fs.openSync(process.env['FLUSHES_FILE'] ?? '', 'a')

function count(): void {
  fs.writeSync(file, '.')
}

const { fdatasync, fdatasyncSync } = fs

fs.fdatasync = Object.assign(
  (descriptor: number, done: fs.NoParamCallback) =>
    fdatasync(descriptor, (error) => {
      if (!error) count()
      done(error)
    }),
  { __promisify__: fdatasync.__promisify__ },
)

fs.fdatasyncSync = (descriptor) => {
  fdatasyncSync(descriptor)
  count()
}
