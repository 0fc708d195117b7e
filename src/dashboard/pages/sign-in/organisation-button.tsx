import { Button, type ButtonProps } from '@mantine/core'
import { IconBuilding } from '@tabler/icons-react'
import type { ComponentProps } from 'react'

/** Names the host of the provider, which may need a second line. */
export function OrganisationButton(props: ButtonProps & Omit<ComponentProps<'button'>, keyof ButtonProps>) {
  return (
    <Button
      leftSection={<IconBuilding size={16} />}
      h="auto"
      mih={36}
      py={6}
      styles={{ label: { whiteSpace: 'normal', overflowWrap: 'anywhere', lineHeight: 1.4 } }}
      {...props}
    />
  )
}
