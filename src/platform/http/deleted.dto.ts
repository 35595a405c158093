import { ApiProperty } from '@nestjs/swagger';

export class DeletedDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' })
  readonly id: string;

  @ApiProperty({ type: 'boolean', enum: [true], example: true })
  readonly deleted: true;
}
