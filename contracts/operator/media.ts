import { deleteMedia as publicDelete, getMedia as publicGet } from '../api/media.ts'
import { changes } from '../facts/changes.ts'
import { commandProcedure, ofAccount } from '../procedure.ts'

export const getMedia = commandProcedure({
  kind: 'query',
  input: ofAccount(publicGet.input.shape),
  output: publicGet.output,
})

export const deleteMedia = commandProcedure({
  kind: 'mutation',
  input: ofAccount(publicDelete.input.shape),
  output: publicDelete.output,
  audit: changes.deleteMedia,
})
