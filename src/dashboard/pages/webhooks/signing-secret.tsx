import { Anchor } from '@mantine/core'
import { CopyField } from '../../ui/copy-field.tsx'

/** The secret, and where it is written what to do with it. */
export function SigningSecret({ secret }: { secret: string }) {
  return (
    <>
      <CopyField
        label="Signing secret"
        value={secret}
        description="Your application verifies with it that an event comes from here. Treat it like a password."
      />
      <Anchor href="/docs#description/webhooks" target="_blank" size="sm" style={{ alignSelf: 'flex-start' }}>
        How events are signed
      </Anchor>
    </>
  )
}
