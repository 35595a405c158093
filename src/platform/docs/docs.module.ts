import { Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';
import { FaviconController } from './favicon.controller.js';

@Module({ controllers: [DocsController, FaviconController] })
export class DocsModule {}
