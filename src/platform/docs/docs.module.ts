import { Module } from '@nestjs/common';
import { DocsController, FaviconController } from './docs.controller.js';

@Module({ controllers: [DocsController, FaviconController] })
export class DocsModule {}
