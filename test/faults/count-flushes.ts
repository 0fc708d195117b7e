import fs from 'node:fs'

/** Loaded before a server. Writes one byte to `FLUSHES_FILE` after each flush. */
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
